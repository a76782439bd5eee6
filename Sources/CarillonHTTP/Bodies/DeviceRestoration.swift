import CarillonCore
import CarillonEdge

/// Which devices are to be taken back into use (`POST /devices/restore`).
struct DeviceRestoration {
    private enum Provider: String, CaseIterable {
        case apns, fcm, webhook, webpush
    }

    let provider: ProviderName
    /// The app, or the host of the devices' URLs; `nil` for all.
    let appID: String?
    /// When they were unregistered or quarantined: then or later.
    let since: Timestamp
    /// When they were unregistered or quarantined: before.
    let until: Timestamp
}

extension DeviceRestoration {
    /// Reads `{"provider","appId" or "host","from","to"}`; without `to` the window ends now.
    init(_ body: JSONValue, now: Timestamp) throws(InvalidInput) {
        self = try body.read(as: "invalid-restore") { reader in
            let provider = reader.choice("provider", as: Provider.self, required: true)
            var appID: String?
            switch provider {
            case .apns, .fcm: appID = reader.identifier("appId", as: DeviceAddress.self)?.rawValue
            case .webhook, .webpush: appID = reader.host()
            case nil:
                // Which of the two belongs here is not known: do not call either unknown.
                for key in ["appId", "host"] { _ = reader.value(key) }
            }
            let from = reader.timestamp("from", required: true)
            let end = reader.timestamp("to") ?? now
            guard let name = provider.flatMap({ ProviderName(rawValue: $0.rawValue) }), let from else { return nil }
            guard from < end else {
                reader.refuse("from", "must be before to, which is now unless it is given")
                return nil
            }
            return Self(provider: name, appID: appID, since: from, until: end)
        }
    }
}
