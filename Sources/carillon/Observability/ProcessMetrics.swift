import CarillonCore
import CarillonHTTP
import Foundation

/// What the operating system knows of this process.
struct ProcessMetrics: Sendable {
    private let startedAt: Timestamp
    private let dataDirectory: String

    /// The metrics of a process that started now and keeps its files in a directory.
    init(dataDirectory: String, clock: WallClock = .system) {
        startedAt = clock.now()
        self.dataDirectory = dataDirectory
    }

    func register(in registry: MetricRegistry) {
        registry.onScrape("carillon_build_info") { [MetricReading(1, [("version", Release.version)])] }
        registry.onScrape("process_start_time_seconds") { [startedAt] in
            [MetricReading(Double(startedAt.milliseconds) / 1000)]
        }
        registry.onScrape("process_resident_memory_bytes") {
            Self.residentMemory.map { [MetricReading(Double($0))] } ?? []
        }
        registry.onScrape("process_open_fds") {
            Self.openFiles.map { [MetricReading(Double($0))] } ?? []
        }
        registry.onScrape("carillon_log_lines_dropped_total", .counter) {
            [MetricReading(Double(LogOutput.standardError.dropped))]
        }
        registry.onScrape("carillon_free_bytes") { [dataDirectory] in
            FreeSpace.bytes(at: dataDirectory).map { [MetricReading(Double($0))] } ?? []
        }
        registry.onScrape("process_max_fds") { [MetricReading(Double(DescriptorLimit.current.soft))] }
    }

    /// Resident memory in bytes; `nil` where there is no `/proc`.
    private static var residentMemory: Int? {
        guard let file = FileHandle(forReadingAtPath: "/proc/self/statm"), let data = try? file.read(upToCount: 256)
        else { return nil }
        let fields = String(decoding: data, as: UTF8.self).split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    private static var openFiles: Int? {
        try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }
}
