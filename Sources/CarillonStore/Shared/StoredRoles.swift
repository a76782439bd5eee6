import CarillonCore

/// Roles are stored as a JSON array: PostgreSQL has no arrays of arrays to write many people's at once.
enum StoredRoles {
    static func text(of roles: [String]) -> String {
        JSONValue.array(roles.map(JSONValue.string)).serializedText
    }

    /// Reads what ``text(of:)`` wrote; anything else means that nothing is known.
    static func roles(from text: String) -> [String]? {
        guard case .array(let elements)? = try? JSONValue(parsing: text) else { return nil }
        return elements.compactMap { element in
            guard case .string(let role) = element else { return nil }
            return role
        }
    }
}
