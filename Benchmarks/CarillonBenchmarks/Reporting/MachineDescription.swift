import CarillonCore
import Foundation

/// What the figures were taken on.
struct MachineDescription: Sendable {
    private let facts: [(name: String, value: String)]

    /// Describes this machine.
    init(temporary: String) {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let gibibytes = Double(ProcessInfo.processInfo.physicalMemory) / 0x1p30
        var facts = [
            ("processor", "\(cores) × \(Self.processorName ?? "unknown")"),
            ("memory", "\(gibibytes.shortText) GiB"),
            ("system", ProcessInfo.processInfo.operatingSystemVersionString),
        ]
        facts.append(("data on", "\(temporary) (\(Self.fileSystem(of: temporary) ?? "unknown file system"))"))
        #if DEBUG
            facts.append(("build", "debug: the figures mean nothing"))
        #endif
        self.facts = facts
    }

    /// One line for each fact.
    var lines: [String] { facts.map { "\($0.name): \($0.value)" } }

    /// For programs.
    var json: JSONValue {
        var object = JSONObject()
        for (name, value) in facts { object[name] = .string(value) }
        return .object(object)
    }

    private static var processorName: String? {
        guard let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8) else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix("model name") }
        return line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// The kind of file system that a directory is on: in memory (`tmpfs`) a commit would cost nothing.
    private static func fileSystem(of directory: String) -> String? {
        guard let text = try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8) else { return nil }
        let path = URL(fileURLWithPath: directory).resolvingSymlinksInPath().path + "/"
        var closest = (length: 0, kind: String?.none)
        for mount in text.split(separator: "\n") {
            let fields = mount.split(separator: " ")
            guard fields.count > 2 else { continue }
            let point = fields[1] == "/" ? "/" : "\(fields[1])/"
            if path.hasPrefix(point), point.count > closest.length { closest = (point.count, String(fields[2])) }
        }
        return closest.kind
    }
}
