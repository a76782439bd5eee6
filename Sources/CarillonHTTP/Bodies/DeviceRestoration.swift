import CarillonCore

/// Which devices are to be taken back into use (`POST /devices/restore`).
struct DeviceRestoration {
    /// Those whose devices can be out of use.
    private static let providers = ProviderName.allCases.filter { $0.kind.lanes != .single }

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
            let name = reader.value("provider", required: true)
            let provider = Self.providers.first { name == .string($0.rawValue) }
            if name != nil, provider == nil {
                reader.refuse("provider", "must be one of " + Self.providers.map(\.rawValue).joined(separator: ", "))
            }
            var appID: String?
            switch provider?.kind.lanes {
            case .byApp: appID = reader.identifier("appId", as: DeviceAddress.self)?.rawValue
            case .byHost: appID = reader.host()
            case .single, nil:
                // Which of the two belongs here is not known: do not call either unknown.
                for key in ["appId", "host"] { _ = reader.value(key) }
            }
            let from = reader.timestamp("from", required: true)
            let end = reader.timestamp("to") ?? now
            guard let provider, let from else { return nil }
            guard from < end else {
                reader.refuse("from", "must be before to, which is now unless it is given")
                return nil
            }
            return Self(provider: provider, appID: appID, since: from, until: end)
        }
    }
}
