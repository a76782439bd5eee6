/// What is wrong with stored data; PostgreSQL's own failures come as `PostgresError`.
package enum StoreError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A stored value is not what this release writes; names the kind of value.
    case unreadable(String)
    /// A secret was sealed with another master key, or is damaged.
    case cannotUnseal
    /// The master key is not the database's, so nothing is sealed with it.
    case wrongMasterKey
    /// Nobody has looked yet whether the master key is the database's.
    case notReady
    case unknownNetwork

    /// What is wrong, without the value.
    package var description: String {
        switch self {
        case .unreadable(let kind): "a stored \(kind) cannot be read"
        case .cannotUnseal: "a stored secret was sealed with another master key or is damaged"
        case .wrongMasterKey: "the master key is not known to be the one that stored secrets are sealed with"
        case .notReady: "nobody has looked yet whether the master key is the database's"
        case .unknownNetwork: "the network does not exist"
        }
    }
}
