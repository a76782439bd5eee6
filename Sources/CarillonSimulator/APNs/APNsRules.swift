/// What APNs demands of a notification, beside its authentication.
///
/// - SeeAlso: "Sending notification requests to APNs", Apple's developer documentation.
enum APNsRules {
    private static let maximumPayloadBytes = 4096
    private static let maximumVoIPPayloadBytes = 5120
    private static let maximumCollapseIDBytes = 64
    private static let tokenDigits = 64...200
    private static let pushTypes: Set<String> = [
        "alert", "background", "complication", "controls", "fileprovider", "liveactivity", "location", "mdm",
        "pushtotalk", "voip", "widgets",
    ]

    static func token(inPath path: Substring) throws(APNsRefusal) -> String {
        guard path.hasPrefix("/3/device") else { throw APNsRefusal(.badPath) }
        let token = path.dropFirst("/3/device".utf8.count)
        if token.isEmpty || token == "/" { throw APNsRefusal(.missingDeviceToken) }
        guard token.first == "/", !token.dropFirst().contains("/") else { throw APNsRefusal(.badPath) }
        return String(token.dropFirst()).lowercased()
    }

    /// Checks what the headers say. The app of the client's certificate makes `apns-topic` optional.
    static func check(_ headers: APNsHeaders, certificateTopic: String?) throws(APNsRefusal) {
        if headers.hasDuplicates { throw APNsRefusal(.duplicateHeaders) }
        if let id = headers.id, !id.isCanonicalUUID { throw APNsRefusal(.badMessageID) }
        guard let topic = headers.topic ?? certificateTopic, !topic.isEmpty else { throw APNsRefusal(.missingTopic) }
        guard topic.utf8.allSatisfy(\.belongsToBundleID) else { throw APNsRefusal(.badTopic) }
        if let certificateTopic, topic != certificateTopic, !topic.hasPrefix("\(certificateTopic).") {
            throw APNsRefusal(.topicDisallowed)
        }
        if let type = headers.pushType, !pushTypes.contains(type) { throw APNsRefusal(.invalidPushType) }
        if let priority = headers.priority {
            guard ["1", "5", "10"].contains(priority) else { throw APNsRefusal(.badPriority) }
            if headers.pushType == "background", priority == "10" { throw APNsRefusal(.badPriority) }
        }
        if let expiration = headers.expiration, UInt32(expiration) == nil { throw APNsRefusal(.badExpirationDate) }
        if let id = headers.collapseID, id.isEmpty || id.utf8.count > maximumCollapseIDBytes {
            throw APNsRefusal(.badCollapseID)
        }
    }

    static func check(payloadBytes: Int, pushType: String?) throws(APNsRefusal) {
        if payloadBytes == 0 { throw APNsRefusal(.payloadEmpty) }
        let limit = pushType == "voip" ? maximumVoIPPayloadBytes : maximumPayloadBytes
        if payloadBytes > limit { throw APNsRefusal(.payloadTooLarge) }
    }

    static func check(token: String, of service: SimulatedService) throws(APNsRefusal) {
        let foreign =
            service == .apnsProduction ? SimulatedToken.sandboxOnlyPrefix : SimulatedToken.productionOnlyPrefix
        guard tokenDigits.contains(token.utf8.count), token.utf8.count.isMultiple(of: 2),
            token.utf8.allSatisfy(\.isHexDigit), !token.hasPrefix(foreign)
        else { throw APNsRefusal(.badDeviceToken) }
    }
}

extension String {
    /// Whether this is 32 hexadecimal digits in groups of 8-4-4-4-12.
    fileprivate var isCanonicalUUID: Bool {
        let bytes = utf8
        guard bytes.count == 36 else { return false }
        return bytes.enumerated().allSatisfy { index, byte in
            switch index {
            case 8, 13, 18, 23: byte == UInt8(ascii: "-")
            default: byte.isHexDigit
            }
        }
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        case UInt8(ascii: "A")...UInt8(ascii: "F"): true
        default: false
        }
    }

    fileprivate var belongsToBundleID: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }
}
