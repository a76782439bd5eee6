import Foundation

/// A directory of one test, gone when the test is over.
final class Scratch: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("carillon-\(UUID().uuidString)").path
        // Root's PostgreSQL runs under an account of its own, which has to get through to the cluster inside.
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o711]
        )
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// A path inside.
    func path(_ name: String) -> String { "\(path)/\(name)" }
}
