import Foundation

/// An operation of an OpenAPI document.
package struct DescribedOperation: Hashable, CustomStringConvertible, Sendable {
    private static let methods = ["get", "put", "post", "patch", "delete", "options"]

    /// In small letters.
    package var method: String
    /// As it is written, with its parameters in braces.
    package var path: String

    package init(method: String, path: String) {
        self.method = method
        self.path = path
    }

    package var description: String { "\(method) \(path)" }

    /// The operations of a document at the root of the sources, or those in whose descriptions a text stands: the paths stand two
    /// spaces in, their methods four.
    package static func all(in document: String, mentioning text: String = "") throws -> Set<DescribedOperation> {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../\(document)")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        var operations: Set<DescribedOperation> = []
        var path = ""
        var method: String?
        for line in lines.drop(while: { $0 != "paths:" }).dropFirst() {
            if !line.hasPrefix(" ") { break }
            if line.hasPrefix("  /") { (path, method) = (String(line.dropFirst(2).dropLast()), nil) }
            let name = String(line.dropFirst(4).dropLast())
            if line.hasPrefix("    "), methods.contains(name) { method = name }
            if let method, line.contains(text) || text.isEmpty {
                operations.insert(DescribedOperation(method: method, path: path))
            }
        }
        return operations
    }
}
