import CarillonCore
import CarillonDialects
import CarillonEdge

/// What an admin writes of a dialect: `{"enabled","secrets","basic",…}`.
struct DialectDraft: Sendable {
    private static let problem = "invalid-dialect"

    private var isEnabled: Bool
    /// `nil` for those that are there.
    private var secrets: [String]?
    private var basic: (user: String, password: String?)?
    private var keepsBasic: Bool
    private var settings: JSONObject

    /// The document that it makes: what is secret is kept where it is left out, and keeps its time where it stays the same.
    func document(
        _ name: DialectName,
        after former: DialectDocument?,
        at now: Timestamp
    ) throws -> DialectDocument {
        if former?.isUnreadable == true, secrets == nil || keepsBasic { throw Problem.wrongMasterKey }
        var document = DialectDocument(name: name, isEnabled: isEnabled, settings: settings, updatedAt: now)
        let known = former?.secrets ?? []
        document.secrets =
            secrets.map { secrets in
                secrets.map { text in
                    known.first { $0.value == Secret(text) } ?? .init(value: Secret(text), setAt: now)
                }
            } ?? known
        document.basic = keepsBasic ? former?.basic : try newBasic(after: former?.basic, at: now)
        return document
    }

    private func newBasic(
        after former: DialectDocument.BasicCredential?,
        at now: Timestamp
    ) throws -> DialectDocument.BasicCredential? {
        guard let basic else { return nil }
        guard let password = basic.password else {
            guard var kept = former else {
                throw InvalidInput(problem: Self.problem, pointer: "/basic/password", detail: "is required")
            }
            kept.user = basic.user
            return kept
        }
        if let former, former.user == basic.user, former.password == Secret(password) { return former }
        return .init(user: basic.user, password: Secret(password), setAt: now)
    }

    private static func secrets(from reader: inout JSONObjectReader) -> [String]? {
        let secrets = reader.strings(
            "secrets",
            maximumCount: DialectDocument.maximumSecretCount,
            maximumBytes: DialectDocument.maximumSecretBytes
        )
        guard let secrets else { return nil }
        for (index, secret) in secrets.enumerated() {
            if secret.isEmpty { reader.refuse("secrets", at: index, "must not be empty") }
            if secrets[..<index].contains(secret) { reader.refuse("secrets", at: index, "is given twice") }
        }
        return secrets
    }

    private static func basic(from reader: inout JSONObjectReader) -> (user: String, password: String?)? {
        guard var basic = reader.object("basic") else { return nil }
        let limit = DialectDocument.maximumSecretBytes
        let user = basic.string("user", required: true, maximumBytes: limit, nonEmpty: true)
        let password = basic.string("password", maximumBytes: limit, nonEmpty: true)
        basic.finish()
        guard let user else { return nil }
        // What follows the first colon is the password.
        if user.contains(":") { basic.refuse("user", "must not hold a colon") }
        return (user, password)
    }
}

extension DialectDraft {
    init(_ json: JSONValue, for dialect: any EventDialect) throws(InvalidInput) {
        self = try json.read(as: Self.problem) { reader in
            let isEnabled = reader.bool("enabled") ?? true
            let secrets = Self.secrets(from: &reader)
            let keepsBasic = !reader.contains("basic")
            let basic = Self.basic(from: &reader)
            let settings = DialectSettings.read(for: dialect, from: &reader)
            return DialectDraft(
                isEnabled: isEnabled,
                secrets: secrets,
                basic: basic,
                keepsBasic: keepsBasic,
                settings: settings
            )
        }
    }
}

extension DialectDocument {
    /// What keeps all but holders of API keys from posting, where something does.
    private var warning: String? {
        guard isEnabled, !isUnreadable, let missing = Dialects.named(name).missing(in: self) else { return nil }
        return "there is no \(missing): all posts without an API key are refused"
    }

    /// The document as it is shown: of secrets when they were set.
    var json: JSONValue {
        var json: JSONObject = [
            "dialect": .string(name.rawValue), "enabled": .bool(isEnabled),
            "secrets": .array(secrets.map { ["setAt": JSONValue($0.setAt)] }),
        ]
        json["basic"] = basic.map { ["user": .string($0.user), "setAt": JSONValue($0.setAt)] } ?? .null
        for (key, value) in settings.members { json[key] = value }
        json["updatedAt"] = JSONValue(updatedAt)
        if isUnreadable { json["unreadable"] = true }
        json["warning"] = warning.map(JSONValue.string)
        return .object(json)
    }
}
