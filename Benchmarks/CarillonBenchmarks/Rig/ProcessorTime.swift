import Foundation

/// The processor time that each of those used who share the machine in a benchmark, in seconds since they started.
struct ProcessorTime: Sendable {
    /// This process: the load generator.
    var generator = 0.0
    /// The service.
    var service = 0.0
    /// PostgreSQL's server with all of its processes, ended ones included.
    var postgres = 0.0

    /// What events cost whoever serves them.
    var served: Double { service + postgres }

    /// Reads the clocks of all three.
    static func now(_ service: ServiceUnderTest, _ cluster: Cluster) -> ProcessorTime {
        ProcessorTime(
            generator: ProcessStatus.own.processorSeconds,
            service: service.process.processorSeconds,
            postgres: cluster.server?.processorSecondsWithChildren ?? 0
        )
    }

    /// What was used between two moments.
    static func - (later: ProcessorTime, earlier: ProcessorTime) -> ProcessorTime {
        ProcessorTime(
            generator: later.generator - earlier.generator,
            service: later.service - earlier.service,
            postgres: later.postgres - earlier.postgres
        )
    }
}

extension ProcessStatus {
    // USER_HZ: what proc(5) counts in, the same on all of Linux's machines.
    private static let ticksPerSecond = 100.0

    /// The process that asks.
    static var own: ProcessStatus { ProcessStatus(id: ProcessInfo.processInfo.processIdentifier) }

    /// The processor time of this process, in seconds; zero when it is gone.
    var processorSeconds: Double { (times?.own ?? 0) / Self.ticksPerSecond }

    /// The processor time of this process and of its children, ended ones included, in seconds.
    var processorSecondsWithChildren: Double {
        let ticks = (times.map { $0.own + $0.endedChildren } ?? 0) + children.reduce(0) { $0 + ($1.times?.own ?? 0) }
        return ticks / Self.ticksPerSecond
    }

    /// The processor time of those of its children that have ended, in seconds.
    var processorSecondsOfEndedChildren: Double { (times?.endedChildren ?? 0) / Self.ticksPerSecond }

    /// Its children that live.
    var children: [ProcessStatus] {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return entries.compactMap { Int32($0) }.map(ProcessStatus.init).filter { $0.times?.parent == id }
    }

    /// Processor times in ticks: fields 14 to 17 of `/proc/[pid]/stat`.
    private var times: (parent: Int32, own: Double, endedChildren: Double)? {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8) else { return nil }
        // The second field is the program's name, in which anything can stand; the last parenthesis ends it.
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 14, let parent = Int32(fields[1]) else { return nil }
        let ticks = fields[11...14].compactMap { Double($0) }
        guard ticks.count == 4 else { return nil }
        return (parent, ticks[0] + ticks[1], ticks[2] + ticks[3])
    }
}
