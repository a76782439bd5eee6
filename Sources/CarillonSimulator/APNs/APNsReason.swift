import NIOCore

/// Why APNs refuses a notification: every reason of Apple's table.
///
/// - SeeAlso: "Handling notification responses from APNs", Apple's developer documentation.
package enum APNsReason: String, Error, CaseIterable, Sendable {
    case badCollapseID = "BadCollapseId"
    case badDeviceToken = "BadDeviceToken"
    case badExpirationDate = "BadExpirationDate"
    case badMessageID = "BadMessageId"
    case badPriority = "BadPriority"
    case badTopic = "BadTopic"
    case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
    case duplicateHeaders = "DuplicateHeaders"
    case idleTimeout = "IdleTimeout"
    case invalidPushType = "InvalidPushType"
    case missingDeviceToken = "MissingDeviceToken"
    case missingTopic = "MissingTopic"
    case payloadEmpty = "PayloadEmpty"
    case topicDisallowed = "TopicDisallowed"
    case badCertificate = "BadCertificate"
    case badCertificateEnvironment = "BadCertificateEnvironment"
    case expiredProviderToken = "ExpiredProviderToken"
    case forbidden = "Forbidden"
    case invalidProviderToken = "InvalidProviderToken"
    case missingProviderToken = "MissingProviderToken"
    case unrelatedKeyIDInToken = "UnrelatedKeyIdInToken"
    case badEnvironmentKeyIDInToken = "BadEnvironmentKeyIdInToken"
    case badPath = "BadPath"
    case methodNotAllowed = "MethodNotAllowed"
    case expiredToken = "ExpiredToken"
    case unregistered = "Unregistered"
    case payloadTooLarge = "PayloadTooLarge"
    case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
    case tooManyRequests = "TooManyRequests"
    case internalServerError = "InternalServerError"
    case serviceUnavailable = "ServiceUnavailable"
    case shutdown = "Shutdown"

    package var status: Int {
        switch self {
        case .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority, .badTopic,
            .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken,
            .missingTopic, .payloadEmpty, .topicDisallowed:
            400
        case .badCertificate, .badCertificateEnvironment, .expiredProviderToken, .forbidden, .invalidProviderToken,
            .missingProviderToken, .unrelatedKeyIDInToken, .badEnvironmentKeyIDInToken:
            403
        case .badPath: 404
        case .methodNotAllowed: 405
        case .expiredToken, .unregistered: 410
        case .payloadTooLarge: 413
        case .tooManyProviderTokenUpdates, .tooManyRequests: 429
        case .internalServerError: 500
        case .serviceUnavailable, .shutdown: 503
        }
    }

    /// What a device token begins with to get this: `fa11`, the status, and the reason's number among those of the status.
    package var tokenPrefix: String {
        let reasons = Self.allCases.filter { $0.status == status }
        let number = (reasons.firstIndex(of: self) ?? 0) + 1
        return "fa11\(status)" + (number < 10 ? "0" : "") + String(number)
    }
}

/// An answer of APNs that is not 200.
struct APNsRefusal: Error {
    var reason: APNsReason
    /// Since when the token is not valid; only with 410.
    var since: Duration?

    init(_ reason: APNsReason, since: Duration? = nil) {
        self.reason = reason
        self.since = since
    }

    func answer(id: String) -> Answer {
        let timestamp = since.map { #","timestamp":\#($0.wholeMilliseconds)"# } ?? ""
        return Answer(
            reason.status,
            headers: [("apns-id", id)],
            json: #"{"reason":"\#(reason.rawValue)"\#(timestamp)}"#
        )
    }
}

extension Behaviour where Refusal == APNsRefusal {
    /// The prefix of a device that has gone long ago: before it could be registered here.
    static var longGonePrefix: String { "fa1141099" }

    /// Reads the markers that a device token begins with: `de1a` and milliseconds, `0ce1`, `fa11` and what to answer.
    init(hexadecimal token: String, now: Duration) {
        var rest = token[...]
        while true {
            if rest.hasPrefix("de1a"), let milliseconds = rest.dropFirst(4).number(digits: 5) {
                delay = .milliseconds(Int64(milliseconds))
                rest = rest.dropFirst(9)
            } else if rest.hasPrefix("0ce1") {
                isOnce = true
                rest = rest.dropFirst(4)
            } else {
                break
            }
        }
        guard rest.hasPrefix("fa11"), let status = rest.dropFirst(4).number(digits: 3),
            rest.dropFirst(7).number(digits: 2) != nil
        else { return }
        let prefix = String(rest.prefix(9))
        if prefix == Self.longGonePrefix {
            outcome = .refusal(APNsRefusal(.unregistered, since: .seconds(1_445_412_480)))
        } else if let reason = Markers.reasons[prefix] {
            outcome = .refusal(APNsRefusal(reason, since: reason.status == 410 ? now : nil))
        } else if let fault = Markers.faults[prefix] {
            outcome = .fault(fault)
        } else if status >= 200 {
            outcome = .unknown(status: status)
        }
    }
}

/// What the device tokens of APNs can begin with.
private enum Markers {
    static let reasons = Dictionary(uniqueKeysWithValues: APNsReason.allCases.map { ($0.tokenPrefix, $0) })
    static let faults = Dictionary(uniqueKeysWithValues: Fault.allCases.map { ($0.apnsTokenPrefix, $0) })
}

extension Substring {
    /// The decimal number that this begins with; `nil` when it has fewer digits.
    fileprivate func number(digits: Int) -> Int? {
        let text = prefix(digits)
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }
}
