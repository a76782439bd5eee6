import Foundation
import Logging

/// The surroundings of all benchmarks: the program under test and a place for what is thrown away afterwards.
struct Workshop: Sendable {
    /// The program `carillon`.
    let program: String
    /// The folder in which the program finds what comes with it, `Templates` and `Migrations` for example.
    let resources: String
    /// The throw-away directory.
    let directory: String
    /// Tells about PostgreSQL's troubles.
    let logger: Logger

    /// Lends a workshop; its directory, in `temporary` on the disk that is to be measured, is removed afterwards.
    static func withWorkshop<Value>(
        program: String,
        resources: String,
        temporary: String,
        _ body: (Workshop) async throws -> Value
    ) async throws -> Value {
        let name = "carillon-benchmarks-\(ProcessInfo.processInfo.processIdentifier)"
        let directory = URL(fileURLWithPath: temporary).appendingPathComponent(name).path
        // As root PostgreSQL runs under an account of its own, which has to get through to its cluster.
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o711]
        )
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var logger = Logger(label: "carillon-benchmarks", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = .warning
        let workshop = Workshop(
            program: URL(fileURLWithPath: program).path,
            resources: URL(fileURLWithPath: resources).path,
            directory: directory,
            logger: logger
        )
        return try await body(workshop)
    }

    /// The same with another build, and what comes with it: of the checkout that it is in, if it is in one.
    /// - Throws: ``BenchmarkFailure`` when there is no such program.
    func with(program path: String) throws(BenchmarkFailure) -> Workshop {
        let program = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        guard FileManager.default.isExecutableFile(atPath: program.path) else {
            throw BenchmarkFailure("\(path) is no program")
        }
        var folder = program.deletingLastPathComponent()
        while folder.path != "/", !FileManager.default.fileExists(atPath: folder.path + "/Migrations") {
            folder.deleteLastPathComponent()
        }
        return Workshop(
            program: program.path,
            resources: folder.path == "/" ? resources : folder.path,
            directory: directory,
            logger: logger
        )
    }

    /// A path in the throw-away directory that nobody has used yet.
    func newPath(_ name: String) -> String {
        "\(directory)/\(String(UInt32.random(in: .min ... .max), radix: 36))-\(name)"
    }

    /// Says on standard error what is going on: standard output belongs to the results.
    func say(_ text: String) {
        FileHandle.standardError.write(Data("==> \(text)\n".utf8))
    }
}
