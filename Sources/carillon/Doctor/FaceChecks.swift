import CarillonCore
import CarillonStore
import Postgres

/// Looks whether what networks are called in other systems leads to apps that can be sent to.
enum FaceChecks {
    private static let subject = "faces"

    /// What is found in a database with all of its tables.
    static func findings(_ accounts: PostgresAccountStore, _ faces: PostgresFaceList) async throws -> [Finding] {
        let bindings = try await faces.faceList(unless: nil)?.bindings ?? []
        let credentials = PostgresProviderCredentialStore(Placed(PlacementDatabase(accounts)))
        var apps: [NetworkID: Set<DeviceSelection.App>] = [:]
        for network in Set(bindings.map(\.networkID)) {
            let stored = try await credentials.providersWithCredentials(of: network)
            apps[network] = Set(stored.map { DeviceSelection.App($0.provider, $0.appID) })
        }
        return findings(of: bindings, apps: apps)
    }

    /// One line for each binding whose app is not known, and one for all others.
    static func findings(of bindings: [FaceBinding], apps: [NetworkID: Set<DeviceSelection.App>]) -> [Finding] {
        guard !bindings.isEmpty else { return [.ok(subject, "no network has a name in another system")] }
        let troubles = bindings.map { binding -> [Finding] in
            let missing = DeviceSelection.App.all(in: binding).subtracting(apps[binding.networkID] ?? [])
            return missing.sorted { ($0.provider, $0.appID) < ($1.provider, $1.appID) }.map { app in
                .warn(
                    "face \(binding.networkID)/\(binding.face.rawValue)/\(binding.externalID)",
                    "there is no \(app.provider.rawValue) credential for \(app.appID), so nothing is sent: PUT one"
                )
            }
        }
        return .of(troubles, subject, "names lead to apps with credentials")
    }
}

extension DeviceSelection.App {
    /// What other systems call the two.
    private static let platforms: [String: ProviderName] = ["ios": .apns, "A": .apns, "android": .fcm, "G": .fcm]

    /// The apps that a binding names: each beside its provider, or under its platform.
    static func all(in binding: FaceBinding) -> Set<Self> {
        let settings = binding.settings
        guard settings["retired"] != .bool(true) else { return [] }
        var apps: Set<Self> = []
        let provider = settings["provider"]?.text.flatMap(ProviderName.init(rawValue:))
        if let app = app(in: settings, provider, unless: binding.externalID) { apps.insert(app) }
        for (platform, provider) in platforms {
            if case .object(let part)? = settings[platform], let app = app(in: part, provider) { apps.insert(app) }
        }
        return apps
    }

    /// The app that is named, or has this name where nothing else is said and it is no pattern; `nil` when it needs no credential
    /// of its own.
    private static func app(in part: JSONObject, _ provider: ProviderName?, unless name: String? = nil) -> Self? {
        guard let provider, provider.kind.lanes == .byApp else { return nil }
        let named = part["appId"]?.text ?? name.flatMap { $0.hasSuffix("*") ? nil : $0 }
        return named.map { Self(provider, $0) }
    }
}
