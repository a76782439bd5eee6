import CarillonCore

/// What a client says of a device; what is absent is not changed where it is known.
struct AblyDeviceBody: Sendable {
    private static let maximumMetadataBytes = 4_096

    var id: DeviceID?
    /// Whom it is for: `.some(nil)` for nobody.
    var client: String??
    var platform: AblyDevice.Platform?
    var formFactor: AblyDevice.FormFactor?
    /// `.some(nil)` takes away what there is.
    var metadata: JSONObject??
    var secret: String?
    var recipient: JSONObject?
    var state: String?
    var updateToken: String?

    /// Reads the body of a request; unknown members are passed over.
    init(_ body: JSONObject) throws(AblyError) {
        id = try body.ablyText("id").map(DeviceID.init(ablyDevice:))
        if body.contains("clientId") { client = .some(try body.ablyText("clientId")) }
        platform = try Self.choice("platform", of: body)
        formFactor = try Self.choice("formFactor", of: body)
        if body.contains("metadata") { metadata = .some(try body.ablyObject("metadata", else: AblyError.body)) }
        if case .some(.some(let metadata)) = metadata,
            JSONValue.object(metadata).serialized.count > Self.maximumMetadataBytes
        {
            throw .tooLarge("metadata may take \(Self.maximumMetadataBytes) bytes")
        }
        secret = try body.ablyText("deviceSecret")
        if let secret, !(1...256).contains(secret.utf8.count) { throw .body("deviceSecret must be 1 to 256 bytes") }
        updateToken = try body.ablyText("updateToken")
        guard let push = try body.ablyObject("push", else: AblyError.body) else { return }
        state = try push.ablyText("state")
        recipient = try push.ablyObject("recipient") { .malformed("push.\($0)") }
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ key: String,
        of body: JSONObject
    ) throws(AblyError) -> Choice? {
        guard let text = try body.ablyText(key) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            throw .body("\(key) must be one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return choice
    }
}
