import Foundation
import Postgres
import Testing

/// A copy of the PostgreSQL that is installed here, whose files are replaced as an upgrade of its package does.
struct Installation: Sendable {
    private let root: String
    private let binaries: String
    /// What servers load, by its paths where it is installed.
    private let libraries: [String]

    /// Copies what is installed, with the same paths below a directory of the test's own: PostgreSQL finds its files by where
    /// its programs are.
    init(copiedInto scratch: Scratch) async throws {
        let folders = try await Self.folders()
        binaries = try #require(folders["BINDIR"])
        let (library, share) = (try #require(folders["PKGLIBDIR"]), try #require(folders["SHAREDIR"]))
        libraries = try FileManager.default.contentsOfDirectory(atPath: library)
            .filter { $0.hasSuffix(".so") || $0.hasSuffix(".dylib") }.map { "\(library)/\($0)" }
        root = scratch.path("installation")
        for path in ["\(binaries)/postgres", "\(binaries)/initdb", share] + libraries {
            let copy = URL(fileURLWithPath: root + path)
            try FileManager.default.createDirectory(
                at: copy.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try FileManager.default.copyItem(at: URL(fileURLWithPath: path), to: copy)
        }
    }

    /// What a service is started with to find it before all others.
    var environment: [String: String] { ["PATH": "\(root)\(binaries):/usr/bin:/bin"] }

    /// Puts files in the place of all libraries that the running server cannot load, as those of another build are.
    func replaceLibraries() throws {
        for path in libraries { try Data("of another build".utf8).write(to: copy(of: path), options: .atomic) }
    }

    /// Puts libraries in their place that fit the programs.
    func completeUpgrade() throws {
        for path in libraries {
            try Data(contentsOf: URL(fileURLWithPath: path)).write(to: copy(of: path), options: .atomic)
        }
    }

    private func copy(of path: String) -> URL { URL(fileURLWithPath: root + path) }

    private static func folders() async throws -> [String: String] {
        let scratch = Scratch()
        let server = DatabaseServer(in: scratch)
        try await server.start()
        let folders = try await server.withSession { session in
            try session.query("SELECT name, setting FROM pg_config") { row in
                (try row.decode(0, as: String.self), try row.decode(1, as: String.self))
            }
        }
        await server.stop()
        return Dictionary(folders) { first, _ in first }
    }
}
