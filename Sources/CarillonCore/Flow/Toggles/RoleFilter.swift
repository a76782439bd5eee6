/// Whose acts a user wants to hear of, by the actor's roles.
package enum RoleFilter: Sendable, Hashable {
    /// Only of actors with one of these roles; of nobody when empty.
    case only(Set<String>)
    case except(Set<String>)

    package func admits(_ roles: some Sequence<String>) -> Bool {
        switch self {
        case .only(let wanted): roles.contains(where: wanted.contains)
        case .except(let unwanted): !roles.contains(where: unwanted.contains)
        }
    }
}
