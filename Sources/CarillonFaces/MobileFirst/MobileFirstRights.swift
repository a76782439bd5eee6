import CarillonCore

/// What requests need, as scopes of OAuth are called.
enum MobileFirstScope: String, Sendable, CaseIterable {
    case devicesRead = "devices.read"
    case devicesWrite = "devices.write"
    case subscriptionsRead = "subscriptions.read"
    case subscriptionsWrite = "subscriptions.write"
    case tagsRead = "tags.read"
    case tagsWrite = "tags.write"
    case messagesWrite = "messages.write"

    /// What an app may do for its own device.
    static let ofApps: Set<Self> = [.devicesRead, .devicesWrite, .subscriptionsRead, .subscriptionsWrite, .tagsRead]
    /// What the header `clientSecret` is good for.
    static let ofClientSecrets: Set<Self> = [.devicesRead, .devicesWrite, .subscriptionsRead, .subscriptionsWrite]
}

struct MobileFirstRights: Sendable, Equatable {
    /// What an app's token has.
    static let mobileClient = "push.mobileclient"
    /// What a key has that is sent in the header of this name.
    static let appSecret = "appSecret"
    /// What a key has that is sent in the header of this name.
    static let clientSecret = "clientSecret"
    private static let application = "push.application."
    private static let everyApplication = "push.application.*"
    private static let maximumCount = 64
    private static let maximumBytes = 256 + 32

    private(set) var scopes: Set<String>

    init(trusted scopes: some Sequence<String>) {
        self.scopes = Set(scopes)
    }

    /// Reads `rights`; `nil` after noting what is wrong.
    init?(from reader: inout JSONObjectReader) {
        let key = "rights"
        guard
            let names = reader.strings(
                key,
                required: true,
                maximumCount: Self.maximumCount,
                maximumBytes: Self.maximumBytes
            )
        else { return nil }
        for (index, name) in names.enumerated() where !Self.isKnown(name) {
            let known = MobileFirstScope.allCases.map(\.rawValue).joined(separator: ", ")
            reader.refuse(
                key,
                at: index,
                "must be one of \(known), \(Self.mobileClient), push.application.<id>, \(Self.everyApplication), "
                    + "\(Self.appSecret), \(Self.clientSecret)"
            )
            return nil
        }
        guard !names.isEmpty else {
            reader.refuse(key, "must not be empty")
            return nil
        }
        scopes = Set(names)
    }

    init(_ stored: JSONValue) {
        scopes = Set((stored.list ?? []).compactMap(\.text))
    }

    private static func isKnown(_ name: String) -> Bool {
        MobileFirstScope(rawValue: name) != nil || [mobileClient, appSecret, clientSecret].contains(name)
            || name.hasPrefix(application) && name.utf8.count > application.utf8.count
    }

    /// Whether a scope is among them; one of an application also by that of all.
    func covers(_ scope: String) -> Bool {
        scopes.contains(scope) || scope.hasPrefix(Self.application) && scopes.contains(Self.everyApplication)
    }

    func isFor(_ application: String) -> Bool { covers(Self.application + application) }

    var namesApplications: Bool { scopes.contains { $0.hasPrefix(Self.application) } }

    /// What a token may be asked for: the headers' rights are none of OAuth's.
    var ofTokens: MobileFirstRights {
        MobileFirstRights(trusted: scopes.filter { $0 != Self.appSecret && $0 != Self.clientSecret })
    }

    /// What can be done with them in an application that they are for.
    var permitted: Set<MobileFirstScope> {
        var permitted = Set(scopes.compactMap(MobileFirstScope.init(rawValue:)))
        if scopes.contains(Self.mobileClient) { permitted.formUnion(MobileFirstScope.ofApps) }
        return permitted
    }
}
