extension CarillonClient {
    /// A part of a product that can be switched by itself. There may be others than those named here.
    public struct Module: RawRepresentable, Hashable, Sendable {
        /// The service's word.
        public let rawValue: String

        /// A module.
        ///
        /// - Parameter rawValue: The service's word.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Channels, their members and messages.
        public static let chat = Module(rawValue: "chat")
        /// Posts and comments.
        public static let social = Module(rawValue: "social")
        /// Streams and calls.
        public static let video = Module(rawValue: "video")
        /// What is sent to the user directly.
        public static let direct = Module(rawValue: "direct")
    }

    /// Whose acts the user wants to hear of, by the roles of whoever acts.
    public enum RoleFilter: Sendable, Hashable {
        /// Of those with one of these roles; of nobody where there is none.
        case only([String])
        /// Of everybody but those with one of these roles.
        case except([String])
    }

    /// Whether a module may notify the user.
    public struct Permission: Sendable, Hashable {
        /// Whether it may at all.
        public var isAllowed: Bool
        /// Of whose acts; `nil` means everybody's.
        public var roles: RoleFilter?

        /// It may, whoever acts.
        public static let allowed = Permission(isAllowed: true)
        /// It may not.
        public static let forbidden = Permission(isAllowed: false)

        /// It may, depending on who acts.
        ///
        /// - Parameter roles: Whose acts the user wants to hear of.
        /// - Returns: The permission.
        public static func allowed(_ roles: RoleFilter) -> Permission { Permission(isAllowed: true, roles: roles) }

        /// A part of a merge patch. Members that are not meant are `null`: a patch of an object leaves the others as they were.
        var patch: JSON {
            guard isAllowed else { return .object(["enabled": .bool(false)]) }
            let filter: JSON
            switch roles {
            case nil: filter = .null
            case .only(let names): filter = .object(["only": .array(names.map(JSON.string)), "except": .null])
            case .except(let names): filter = .object(["except": .array(names.map(JSON.string)), "only": .null])
            }
            return .object(["enabled": .bool(true), "roles": filter])
        }
    }
}

extension CarillonClient.Permission: Decodable {
    private enum CodingKeys: String, CodingKey {
        case isAllowed = "enabled"
        case roles
    }
}

extension CarillonClient.RoleFilter: Decodable {
    private enum CodingKeys: CodingKey {
        case only, except
    }

    /// Reads `{"only":[…]}` or `{"except":[…]}`.
    ///
    /// - Parameter decoder: Where it is read from.
    /// - Throws: When it is neither.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let names = try container.decodeIfPresent([String].self, forKey: .only) {
            self = .only(names)
        } else {
            self = .except(try container.decode([String].self, forKey: .except))
        }
    }
}
