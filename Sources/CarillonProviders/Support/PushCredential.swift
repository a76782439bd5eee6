package import CarillonCore

/// What a push service knows us by, taken apart. Only its description is ever shown, which holds no secret.
package protocol PushCredential: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What `GET` shows; no secrets.
    var identity: JSONObject { get }
    /// What is sealed at rest; holds the key.
    var stored: JSONValue { get }

    /// Reads back what was sealed.
    /// - Throws: `InvalidInput` when it is not what ``stored`` made.
    init(stored: JSONValue) throws(InvalidInput)
}

extension PushCredential {
    /// Reads back what a `CredentialFormat` made.
    /// - Throws: `InvalidInput` when it is something else.
    package init(_ credential: ProviderCredential) throws(InvalidInput) {
        try self.init(stored: credential.material.reveal { try? JSONValue(parsing: $0) } ?? .null)
    }

    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }

    fileprivate func sealed(for provider: ProviderName, _ appID: String, at now: Timestamp) -> ProviderCredential {
        ProviderCredential(
            provider: provider,
            appID: appID,
            identity: identity,
            material: Secret(stored.serializedText),
            updatedAt: now
        )
    }
}

extension CredentialFormat {
    /// The format of credentials that are read by `read`, and made by `initial` where there is one before anything was posted.
    /// A former one that cannot be read is an error, too.
    init<Credential: PushCredential>(
        _ provider: ProviderName,
        initial: (@Sendable () -> Credential)? = nil,
        read: @escaping @Sendable (JSONValue, String, Credential?, Timestamp) throws(InvalidInput) -> Credential
    ) {
        self.init(provider, initial: { initial?().sealed(for: provider, "", at: $0) }) {
            (document, appID, former, now) throws(InvalidInput) in
            var kept: Credential?
            if let former { kept = try Credential(former) }
            return try read(document, appID, kept, now).sealed(for: provider, appID, at: now)
        }
    }
}

extension JSONObjectReader {
    /// Refuses a text that should be what is in a file: says so where it is the file's path.
    func refuse(_ key: String, holding text: String?, _ detail: String) {
        refuse(key, text?.isPathOfFile == true ? String.insteadOfPath : detail)
    }
}

extension String {
    /// What is said of a path that stands where a key should.
    static let insteadOfPath = "is the path of a file: what is in the file is needed"

    private static let longestPath = 512
    private static let beginnings = ["/", "./", "../", "~", "@", "file:"]
    private static let endings = [".p8", ".p12", ".pfx", ".pem", ".key", ".cer", ".crt", ".json"]

    /// Whether it looks like the path of a file; only asked of what is no key.
    var isPathOfFile: Bool {
        guard !isEmpty, utf8.count <= Self.longestPath, !utf8.contains(UInt8(ascii: "\n")) else { return false }
        let text = lowercased()
        return Self.beginnings.contains(where: text.hasPrefix) || Self.endings.contains(where: text.hasSuffix)
    }
}
