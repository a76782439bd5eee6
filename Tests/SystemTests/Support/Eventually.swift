import Foundation
import Testing

/// Waits until `value` answers something, and fails the test when that takes longer than `limit`.
func eventually<Value>(
    within limit: Duration = .seconds(30),
    _ what: String,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ value: () async throws -> Value?
) async throws -> Value {
    let clock = ContinuousClock()
    let deadline = clock.now + limit
    while true {
        if let value = try await value() { return value }
        try #require(clock.now < deadline, "\(what) did not happen within \(limit)", sourceLocation: sourceLocation)
        try await Task.sleep(for: .milliseconds(20))
    }
}

/// Waits until `condition` holds, and fails the test when that takes longer than `limit`.
func eventually(
    within limit: Duration = .seconds(30),
    _ what: String,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async throws {
    _ = try await eventually(within: limit, what, sourceLocation: sourceLocation) {
        try await condition() ? true : nil
    }
}

/// A directory of one test, gone when the test is over.
///
/// It is in memory where there is room: a database that is thrown away needs no disk, and would wait for it most of the time.
final class Scratch: Sendable {
    private static let memory = "/dev/shm"
    /// What all databases of a test may need, in bytes.
    private static let neededMemory: UInt64 = 4 << 30

    let path: String

    /// - Parameter holdsPrograms: Whether programs inside are to run, which they may not from memory everywhere.
    init(holdsPrograms: Bool = false) {
        let parent =
            !holdsPrograms && Self.freeMemory >= Self.neededMemory
            ? Self.memory : FileManager.default.temporaryDirectory.path
        path = "\(parent)/carillon-\(UUID().uuidString)"
        do {
            // Root's PostgreSQL runs under an account of its own, which has to get through to the cluster inside.
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o711]
            )
        } catch {
            Issue.record(error, "there is no room for tests")
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    private static var freeMemory: UInt64 {
        var status = statvfs()
        guard statvfs(memory, &status) == 0 else { return 0 }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }

    /// A path inside.
    func path(_ name: String) -> String { "\(path)/\(name)" }
}
