/// What a network says of one dialect: whether it is taken, who may send it, and how it is read.
package struct DialectDocument: Sendable, Equatable {
    /// The most secrets at a time: the current one, and those that are on their way in or out.
    package static let maximumSecretCount = 4
    /// The longest secret, user name or password, in bytes.
    package static let maximumSecretBytes = 1024

    /// A secret of the sender's, which signs what it sends or comes along with it.
    package struct SharedSecret: Sendable, Equatable {
        package var value: Secret
        package var setAt: Timestamp

        package init(value: Secret, setAt: Timestamp) {
            self.value = value
            self.setAt = setAt
        }
    }

    /// What a sender shows by HTTP's Basic scheme.
    package struct BasicCredential: Sendable, Equatable {
        /// The user's name, which is shown.
        package var user: String
        package var password: Secret
        package var setAt: Timestamp

        package init(user: String, password: Secret, setAt: Timestamp) {
            self.user = user
            self.password = password
            self.setAt = setAt
        }
    }

    package var name: DialectName
    package var isEnabled: Bool
    /// The sender's secrets; any of them will do.
    package var secrets: [SharedSecret]
    /// What the sender shows by Basic, where it does.
    package var basic: BasicCredential?
    /// How it is read, in the form that the dialect checked.
    package var settings: JSONObject
    package var updatedAt: Timestamp
    /// Whether there are secrets that the master key does not open.
    package var isUnreadable = false

    package init(
        name: DialectName,
        isEnabled: Bool = true,
        secrets: [SharedSecret] = [],
        basic: BasicCredential? = nil,
        settings: JSONObject = JSONObject(),
        updatedAt: Timestamp
    ) {
        self.name = name
        self.isEnabled = isEnabled
        self.secrets = secrets
        self.basic = basic
        self.settings = settings
        self.updatedAt = updatedAt
    }
}

/// Networks' documents; the secrets in them are sealed at rest. Who reads them with every request asks for the network's credentials.
package protocol DialectStore: Sendable {
    /// A network's documents, in the order of their names.
    func dialects(of network: NetworkID) async throws -> [DialectDocument]
    func dialect(_ name: DialectName, of network: NetworkID) async throws -> DialectDocument?
    /// Writes what `change` makes of a network's document, or of none, in one transaction that no other change can come between.
    ///
    /// - Returns: The document as it is now; `nil` when there is no such network.
    /// - Throws: What `change` throws; nothing is written then.
    func updateDialect(
        _ name: DialectName,
        of network: NetworkID,
        _ change: @escaping @Sendable (DialectDocument?) throws -> DialectDocument
    ) async throws -> DialectDocument?
    /// Removes a network's document; `false` when there is none.
    func deleteDialect(_ name: DialectName, of network: NetworkID) async throws -> Bool
}
