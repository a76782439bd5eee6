import CarillonCore

/// What a device is besides what Carillon knows of it itself: kept with it, and shown to Ably's clients.
struct AblyDevice: Sendable {
    enum Platform: String, CaseIterable {
        case android, browser, ios
    }

    enum FormFactor: String, CaseIterable {
        case car, desktop, embedded, other, phone, tablet, tv, watch
    }

    /// The push services of Ably's devices.
    static let providers: Set<ProviderName> = [.apns, .fcm, .webpush]

    var platform: Platform
    var formFactor: FormFactor
    /// What its owner keeps with it.
    var metadata: JSONObject?
    /// The recipient as it was sent, where that is not how Carillon would write it.
    var recipient: JSONObject?

    func attributes(at address: DeviceAddress) -> JSONObject {
        let usual = AblyRecipient.shown(address)
        return [
            "platform": .string(platform.rawValue), "formFactor": .string(formFactor.rawValue),
            "metadata": metadata.map(JSONValue.object),
            "recipient": recipient.flatMap { $0 == usual ? nil : .object($0) },
        ]
    }
}

extension AblyDevice {
    /// What is kept with a device, or what can be told of one that was registered in another way.
    init(of device: Device) {
        let attributes = device.attributes ?? JSONObject()
        let usual: Platform =
            switch device.address.provider {
            case .apns: .ios
            case .webpush: .browser
            default: .android
            }
        platform = attributes["platform"]?.text.flatMap(Platform.init) ?? usual
        let usualForm: FormFactor = platform == .browser ? .desktop : .phone
        formFactor = attributes["formFactor"]?.text.flatMap(FormFactor.init) ?? usualForm
        metadata = attributes["metadata"]?.object
        recipient = attributes["recipient"]?.object
    }
}

extension Device {
    /// The device as Ably's clients read it, its recipient only where the caller may know it; nothing beyond what they know, as some
    /// break at anything else.
    func ablyJSON(withRecipient: Bool) -> JSONObject {
        let kept = AblyDevice(of: self)
        let recipient = withRecipient ? kept.recipient ?? AblyRecipient.shown(address) : nil
        return [
            "id": .string(id.rawValue), "clientId": userID.isNobody ? nil : .string(userID.rawValue),
            "platform": .string(kept.platform.rawValue), "formFactor": .string(kept.formFactor.rawValue),
            "metadata": kept.metadata.map(JSONValue.object),
            "push": [
                "recipient": recipient.map(JSONValue.object), "state": .string(ablyState),
                "errorReason": ablyErrorReason,
            ],
        ]
    }

    var ablyState: String {
        switch state {
        case .active: trouble == nil ? "ACTIVE" : "FAILING"
        case .quarantined, .unregistered: "FAILED"
        }
    }

    private var trouble: String? { error == Self.firstError ? nil : error }

    private var ablyErrorReason: JSONValue? {
        switch state {
        case .active: trouble.map { AblyError.failing(for: $0).ofDevice }
        case .quarantined: AblyError.tokenInvalid.ofDevice
        case .unregistered: AblyError.gone.ofDevice
        }
    }
}
