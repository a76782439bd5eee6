import Foundation

/// What Linux tells of another process (proc(5), `/proc/[pid]/status`).
struct ProcessStatus: Sendable {
    /// The process.
    let id: Int32

    /// Whether it exists and has not ended.
    var isRunning: Bool {
        guard let state = field("State") else { return false }
        return state.first != "Z" && state.first != "X"
    }

    /// Sends it a signal, if it still is there.
    func signal(_ number: Int32) { _ = kill(id, number) }

    /// The most memory that was resident at any time, in bytes.
    /// - Throws: ``BenchmarkFailure`` where the system does not tell.
    var peakResidentBytes: Int { get throws(BenchmarkFailure) { try bytes("VmHWM") } }

    /// The memory that is resident now, in bytes.
    /// - Throws: ``BenchmarkFailure`` where the system does not tell.
    var residentBytes: Int { get throws(BenchmarkFailure) { try bytes("VmRSS") } }

    /// How many bytes it has read so far, from sockets and files (proc(5), `/proc/[pid]/io`).
    /// - Throws: ``BenchmarkFailure`` where the system does not tell.
    var readBytes: Int {
        get throws(BenchmarkFailure) {
            guard let text = try? String(contentsOfFile: "/proc/\(id)/io", encoding: .utf8),
                let line = text.split(separator: "\n").first(where: { $0.hasPrefix("rchar: ") }),
                let count = Int(line.dropFirst("rchar: ".count))
            else { throw BenchmarkFailure("what process \(id) reads cannot be counted: this needs Linux") }
            return count
        }
    }

    /// How often one of its threads made way for another so far, by itself or not; those of threads that have ended are left out.
    var contextSwitches: Int {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/task")) ?? []
        return threads.reduce(0) { sum, thread in
            let status = ProcessStatus(id: Int32(thread) ?? id)
            return sum
                + ["voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"].reduce(0) {
                    $0 + (status.field($1).flatMap { Int($0) } ?? 0)
                }
        }
    }

    private func bytes(_ name: String) throws(BenchmarkFailure) -> Int {
        // Always in kibibytes, which the file writes as kB.
        guard let text = field(name), let size = Int(text.prefix { $0.isNumber }) else {
            throw BenchmarkFailure("the memory of process \(id) cannot be read: this needs Linux")
        }
        return size * 1024
    }

    private func field(_ name: String) -> Substring? {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8) else { return nil }
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2, parts[0] == name { return parts[1].drop { $0 == " " || $0 == "\t" } }
        }
        return nil
    }
}
