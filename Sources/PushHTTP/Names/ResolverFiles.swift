import Foundation
import Synchronization

/// Reads `/etc/resolv.conf` and `/etc/hosts`, and again when they have changed.
final class ResolverFiles: Sendable {
    /// By which a file is known to have changed.
    private struct Stamp: Equatable {
        var modified: Date?
        /// Its size and its number on the disk.
        var identity: String
    }

    private struct State {
        var stamps: [Stamp] = []
        var settings = ResolverSettings(resolver: "", hosts: "")
    }

    private static let mostBytes = 1 << 20

    private let paths: [String]
    private let state = Mutex(State())

    init(resolver: String = "/etc/resolv.conf", hosts: String = "/etc/hosts") {
        paths = [resolver, hosts]
    }

    var settings: ResolverSettings {
        let stamps = paths.map(Self.stamp)
        return state.withLock { state in
            if state.stamps != stamps {
                let texts = paths.map(Self.text)
                state = State(stamps: stamps, settings: ResolverSettings(resolver: texts[0], hosts: texts[1]))
            }
            return state.settings
        }
    }

    private static func stamp(_ path: String) -> Stamp {
        // A link, such as systemd's, stays the same when what it leads to changes.
        let file = URL(filePath: path).resolvingSymlinksInPath().path
        let attributes = (try? FileManager.default.attributesOfItem(atPath: file)) ?? [:]
        let identity = [attributes[.size], attributes[.systemFileNumber]].map { "\($0 ?? "")" }
        return Stamp(modified: attributes[.modificationDate] as? Date, identity: identity.joined(separator: " "))
    }

    private static func text(_ path: String) -> String {
        guard let file = FileHandle(forReadingAtPath: path) else { return "" }
        defer { try? file.close() }
        return String(decoding: (try? file.read(upToCount: mostBytes)) ?? Data(), as: UTF8.self)
    }
}
