import CarillonCore
import CarillonTesting
import Foundation
import Hummingbird
import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

/// Holds openapi.yaml against the routes; whether the answers are as described is for a run against the service.
@Suite struct DescriptionTests {
    private struct Operation: Hashable, CustomStringConvertible {
        var method: String
        var path: String
        var description: String { "\(method) \(path)" }
    }

    @Test func `every route is described, and nothing else`() throws {
        let router = PublicRouter.make(try PublicDependencies(over: MemoryStore(), clock: .system))
        let routes = Set(
            router.routes.filter { $0.method != .head }
                .map { Operation(method: $0.method.rawValue.lowercased(), path: $0.path.description) }
        )
        let described = try Self.operations()
        #expect(routes.subtracting(described).isEmpty)
        #expect(described.subtracting(routes).isEmpty)
    }

    /// The paths stand two spaces in, their methods four.
    private static func operations() throws -> Set<Operation> {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../openapi.yaml")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        var operations: Set<Operation> = []
        var path = ""
        for line in lines.drop(while: { $0 != "paths:" }).dropFirst() {
            if !line.hasPrefix(" ") { break }
            if line.hasPrefix("  /") { path = String(line.dropFirst(2).dropLast()) }
            let name = line.dropFirst(4).dropLast()
            if line.hasPrefix("    "), ["get", "put", "post", "patch", "delete", "options"].contains(name) {
                operations.insert(Operation(method: String(name), path: path))
            }
        }
        return operations
    }
}
