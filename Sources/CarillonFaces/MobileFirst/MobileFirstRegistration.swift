import CarillonCore
import CarillonEdge

/// What a body says of a device.
struct MobileFirstRegistration: Sendable {
    private static let maximumTokenBytes = 4_096
    private static let maximumNumberBytes = 64
    private static let maximumAgentBytes = 256

    /// Where it is reached; `nil` where that stays as it is.
    let token: String?
    /// By which push service; `nil` where that stays as it is.
    let platform: MobileFirstApplication.Platform?
    /// Whose it is, where the body says so: ``Identifier/nobody`` for an empty text.
    let userID: UserID?
    private let phoneNumber: String?

    /// Reads a body, which has to say where the device is reached if it `isWhole`; what is wrong is noted.
    init(from reader: inout JSONObjectReader, isWhole: Bool) {
        token = reader.string("token", required: isWhole, maximumBytes: Self.maximumTokenBytes, nonEmpty: true)
        let name = reader.string("platform", required: isWhole)
        platform = name.flatMap { MobileFirstApplication.Platform(rawValue: $0) }
        if name != nil, platform == nil { reader.refuse("platform", "must be A or G") }
        let user = reader.string("userId", maximumBytes: UserID.maximumBytes)
        userID = user.flatMap { $0.isEmpty ? .nobody : UserID($0) }
        if user != nil, userID?.isReserved ?? true {
            reader.refuse("userId", "must be 1 to 256 bytes without control characters, not me, . or ..")
        }
        phoneNumber = reader.string("phoneNumber", maximumBytes: Self.maximumNumberBytes)
    }

    /// Where the device is reached.
    ///
    /// - Throws: `FPWSE0003E` for a platform that the application is not bound for, and what is wrong with the token.
    func address(
        of application: MobileFirstApplication,
        former: DeviceAddress?,
        _ addresses: DeviceAddressReader
    ) throws -> DeviceAddress {
        if token == nil, platform == nil, let former { return former }
        guard let platform = platform ?? former.flatMap(application.platform) else {
            throw Problem.mobileFirst(.wrongValue, "/platform is required")
        }
        guard let token = token ?? former?.text else { throw Problem.mobileFirst(.wrongValue, "/token is required") }
        let address: DeviceAddress
        switch platform {
        case .apple:
            guard let apple = application.apple else { throw Self.notConfigured }
            // The description of Apple's data: `<32e7 b1a1 …>`.
            let digits = token.filter { !"<> ".contains($0) }
            address = apple.address(of: digits)
        case .google:
            guard let google = application.google else { throw Self.notConfigured }
            address = .fcm(token: token, appID: google)
        }
        return try JSONValue.object(address.json(isShown: false)).readForeign { addresses.address(from: &$0) }
    }

    private static let notConfigured = Problem.mobileFirst(
        .notConfigured,
        "the application is not bound for devices of this platform"
    )

    /// What is kept with the device beyond what Carillon itself knows.
    ///
    /// - Returns: Its attributes; those of other systems stay.
    func attributes(of former: Device?, userAgent: String?, at now: Timestamp) -> JSONObject {
        var attributes = former?.attributes ?? JSONObject()
        var own = former?.mobileFirstAttributes ?? JSONObject()
        if let phoneNumber { own["phoneNumber"] = .string(phoneNumber) }
        let agent = userAgent?.shortened(toCharacters: Self.maximumAgentBytes, bytes: Self.maximumAgentBytes)
        own["userAgent"] = agent.map(JSONValue.string)
        if own["createdTime"] == nil { own["createdTime"] = (former?.registeredAt ?? now).mobileFirst }
        attributes[Device.mobileFirstKey] = .object(own)
        return attributes
    }
}

extension Device {
    fileprivate static let mobileFirstKey = FaceName.imfpush.rawValue

    fileprivate var mobileFirstAttributes: JSONObject? { attributes?[Self.mobileFirstKey]?.object }

    /// The device as the push service shows it; `nil` for one of another app.
    func mobileFirst(in application: MobileFirstApplication, showsToken: Bool) -> JSONObject? {
        guard let platform = application.platform(of: address) else { return nil }
        let own = mobileFirstAttributes
        return [
            "deviceId": .string(id.rawValue), "token": showsToken ? .string(address.text) : nil,
            "platform": .string(platform.rawValue), "userId": .string(userID.rawValue),
            "phoneNumber": own?["phoneNumber"], "userAgent": own?["userAgent"], "createdMode": "API",
            "createdTime": own?["createdTime"] ?? registeredAt.mobileFirst,
            "lastUpdatedTime": registeredAt.mobileFirst,
        ]
    }
}
