import Foundation

/// A library that counts calls of a process into which it is loaded (`Benchmarks/Calls/calls.c`).
struct CallCounter: Sendable {
    /// What is counted, in the library's order.
    enum Kind: Int, CaseIterable {
        case retains, releases, objects, allocations, tasks, switches, continuations, reads, writes, polls, random,
            waits, others
        case statements, roundTrips

        /// What one of them is called in a table.
        var name: String {
            switch self {
            case .retains: "retains"
            case .releases: "releases"
            case .objects: "objects"
            case .allocations: "allocations, objects included"
            case .tasks: "tasks"
            case .switches: "switches between executors"
            case .continuations: "continuations"
            case .reads: "reads"
            case .writes: "writes"
            case .polls: "waits for sockets"
            case .random: "random numbers of the system"
            case .waits: "waits of threads"
            case .others: "other system calls"
            case .statements: "SQL statements"
            case .roundTrips: "round trips to PostgreSQL"
            }
        }
    }

    /// What was counted up to a moment.
    struct Counts: Sendable {
        /// By kind.
        var calls: [Int]
        /// Retains by the place in the program that asked for them.
        var retains: [UInt32]

        static func - (later: Counts, earlier: Counts) -> Counts {
            Counts(
                calls: zip(later.calls, earlier.calls).map { $0 - $1 },
                retains: zip(later.retains, earlier.retains).map { $0 &- $1 }
            )
        }
    }

    private static let kinds = 16
    private static let sites = 1 << 24

    private let library: String
    private let file: String

    /// Builds the library.
    /// - Throws: ``BenchmarkFailure`` with what the compiler said.
    init(in workshop: Workshop) async throws {
        library = workshop.newPath("calls.so")
        file = workshop.newPath("calls")
        let source = workshop.resources + "/Benchmarks/Calls/calls.c"
        let options = ["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-Wl,-z,initfirst"]
        _ = try await Tool.output(of: "clang", options + ["-o", library, source])
    }

    /// What starts a program with the library.
    var launcher: [String] { ["env", "LD_PRELOAD=\(library)", "COUNTED_CALLS_FILE=\(file)"] }

    /// What was counted by now.
    /// - Throws: Why the file cannot be read.
    func counts() throws -> Counts {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: file), options: .alwaysMapped)
        return bytes.withUnsafeBytes { bytes in
            let calls = UnsafeRawBufferPointer(rebasing: bytes.prefix(8 * Self.kinds)).bindMemory(to: UInt64.self)
            let retains = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(8 * Self.kinds).prefix(4 * Self.sites))
                .bindMemory(to: UInt32.self)
            return Counts(calls: calls.map { Int($0) }, retains: Array(retains))
        }
    }
}
