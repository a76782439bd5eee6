import Foundation

/// What a service and its clusters cost while nothing happens: milliseconds of processor time a second.
struct Rest: Sendable {
    var service = 0.0
    var postgres = 0.0
    /// How often a second one of the service's threads makes way for another.
    var switches = 0.0

    var all: Double { service + postgres }

    /// Looks for a while.
    static func measure(_ service: ServiceUnderTest, _ clusters: [Cluster], for duration: Duration) async throws -> Rest
    {
        func now() -> (rest: Rest, at: ContinuousClock.Instant) {
            let servers = clusters.compactMap { $0.server?.exactMillisecondsWithChildren }
            let rest = Rest(
                service: service.process.exactMilliseconds,
                postgres: servers.reduce(0, +),
                switches: Double(service.process.contextSwitches)
            )
            return (rest, .now)
        }
        let before = now()
        try await Task.sleep(for: duration)
        let after = now()
        let seconds = (after.at - before.at) / .seconds(1)
        return Rest(
            service: (after.rest.service - before.rest.service) / seconds,
            postgres: (after.rest.postgres - before.rest.postgres) / seconds,
            switches: (after.rest.switches - before.rest.switches) / seconds
        )
    }
}

extension ProcessStatus {
    /// The processor time of the threads that live, to the nanosecond (`/proc/[pid]/task/[tid]/schedstat`): what lasts for less than a tick
    /// adds up.
    fileprivate var exactMilliseconds: Double {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/task")) ?? []
        return threads.reduce(0) { sum, thread in
            let path = "/proc/\(id)/task/\(thread)/schedstat"
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            return sum + (text.split(separator: " ").first.flatMap { Double($0) } ?? 0) / 1e6
        }
    }

    /// The same with that of its children that live.
    fileprivate var exactMillisecondsWithChildren: Double {
        children.reduce(exactMilliseconds) { $0 + $1.exactMilliseconds }
    }
}
