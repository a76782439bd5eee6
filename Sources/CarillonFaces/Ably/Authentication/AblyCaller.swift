import CarillonCore

struct AblyCaller: Sendable {
    /// For whom somebody may speak.
    enum Client: Sendable, Equatable {
        case none
        case named(UserID)
        case any
    }

    let network: Network
    let appID: String
    let settings: AblySettings
    /// The key that vouches for the caller.
    let keyName: String
    let capability: AblyCapability
    let client: Client
    let holdsKey: Bool
    /// The device that the caller's token speaks for; it is the whole of what such a caller is.
    let device: AblyDeviceToken?

    /// Whether everything under `/push` is theirs.
    var isAdmin: Bool { capability.allows(.pushAdmin) }

    var writer: Writer { isAdmin ? .admin : .user }

    func require(_ operation: AblyCapability.Operation, on channel: String) throws(AblyError) {
        guard capability.allows(operation, on: channel) else {
            throw .capability("\(operation.rawValue) is not allowed on this channel")
        }
    }

    /// Passes those who may do something on any channel.
    func require(_ operation: AblyCapability.Operation) throws(AblyError) {
        guard capability.allows(operation) else { throw .capability("\(operation.rawValue) is not allowed") }
    }

    /// The client for whom something is done that is named as `named`, or not named: passes what the caller may say.
    func client(naming named: String?) throws(AblyError) -> UserID? {
        let user = try named.map(UserID.init(ablyClient:))
        if isAdmin { return user }
        switch client {
        case .any: return user
        case .named(let own):
            guard user ?? own == own else { throw .client }
            return own
        case .none:
            guard user == nil else {
                throw holdsKey ? .capability("a key with push-subscribe names no clientId: use a token") : .client
            }
            return nil
        }
    }
}
