import CarillonCore
import Yams

/// The apps of a Sygnal configuration.
///
/// - SeeAlso: <https://github.com/element-hq/sygnal/blob/main/sygnal.yaml.sample>
struct SygnalFile {
    /// What is wrong with the whole file.
    struct Unreadable: Error, CustomStringConvertible {
        let description: String
    }

    /// One entry of `apps`.
    struct App {
        /// The app id, which may have wildcards.
        let name: String
        /// `type`: a push service, or the name of somebody's own class.
        let type: String
        private let members: [String: Node]

        fileprivate init(_ name: String, _ node: Node) throws(Unreadable) {
            guard let mapping = node.mapping else { throw Unreadable(description: "apps.\(name) is no mapping") }
            var members: [String: Node] = [:]
            for (key, value) in mapping { if let key = key.string { members[key] = value } }
            self.name = name
            self.members = members
            type = members["type"]?.string ?? ""
        }

        var keys: [String] { members.keys.sorted() }
        /// A text; `nil` when it is missing or empty.
        func text(_ key: String) -> String? { members[key]?.string.flatMap { $0.isEmpty ? nil : $0 } }
        func bool(_ key: String) -> Bool? { members[key]?.bool }
        func int(_ key: String) -> Int? { members[key]?.int }
        func texts(_ key: String) -> [String]? { members[key]?.sequence.map { $0.compactMap(\.string) } }
    }

    /// In the order in which they stand in the file.
    let apps: [App]
    /// Whether Sygnal calls push services through a proxy.
    let hasProxy: Bool

    /// Reads the text of `sygnal.yaml`.
    init(yaml: String) throws(Unreadable) {
        let root: Node?
        do {
            root = try compose(yaml: yaml)
        } catch {
            // What is wrong may stand beside a key.
            throw Unreadable(description: "is no YAML")
        }
        guard let apps = root?.mapping?["apps"]?.mapping else { throw Unreadable(description: "has no apps") }
        var read: [App] = []
        for (name, node) in apps {
            guard let name = name.string else { throw Unreadable(description: "has an app whose id is no text") }
            read.append(try App(name, node))
        }
        self.apps = read
        hasProxy = root?.mapping?["proxy"]?.string.map { !$0.isEmpty } ?? false
    }
}
