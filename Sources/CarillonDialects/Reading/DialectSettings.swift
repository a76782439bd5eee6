package import CarillonCore

/// What a network's admin says of how a dialect is read.
package struct DialectSettings: Sendable {
    private static let mostSenders = 100

    package let document: JSONObject

    package init(_ document: JSONObject = JSONObject()) {
        self.document = document
    }

    /// Reads the settings of a dialect as an admin writes them.
    package static func read(for dialect: any EventDialect, from reader: inout JSONObjectReader) -> JSONObject {
        var settings = dialect.settings(from: &reader)
        let senders = reader.strings(
            "ignoreSenders",
            maximumCount: mostSenders,
            maximumBytes: UserID.maximumBytes
        )
        if let senders { settings["ignoreSenders"] = .array(senders.map(JSONValue.string)) }
        return settings
    }

    var ignoredSenders: Set<String> { Set(document["ignoreSenders"]?.list?.compactMap(\.text) ?? []) }

    /// A switch that is off where nobody has said anything.
    func isOn(_ key: String) -> Bool { document[key] == .bool(true) }

    func text(_ key: String) -> String? { document[key]?.text }
}
