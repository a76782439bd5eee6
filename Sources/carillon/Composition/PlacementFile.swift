import CarillonCore
import Foundation
import Logging

/// The list of who is where, as it was when the service ran last: in `placements.json` of the data directory, so that a start does not
/// need home. An old one does no harm: a network's own placement says when it is not there.
struct PlacementFile: Sendable {
    private let path: String

    init(dataDirectory: String) {
        path = "\(dataDirectory)/placements.json"
    }

    /// What was written; `nil` where there is nothing that can be read.
    func read() -> PlacementList? {
        guard let data = FileManager.default.contents(atPath: path), let value = try? JSONValue(parsing: Array(data)),
            case .object(let networks)? = value["networks"]
        else { return nil }
        var placements: [NetworkID: PlacementName] = [:]
        for (key, value) in networks.members {
            guard case .string(let text) = value, let name = PlacementName(text), let network = NetworkID(key) else {
                return nil
            }
            placements[network] = name
        }
        return PlacementList(version: 0, placements: placements)
    }

    /// Writes the list in place of the former one; where that fails the next start needs home.
    func write(_ list: PlacementList, _ logger: Logger) {
        var networks = JSONObject()
        for (network, name) in list.placements { networks[network.rawValue] = .string(name.rawValue) }
        do {
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent,
                withIntermediateDirectories: true
            )
            let value: JSONValue = ["networks": .object(networks)]
            try Data(value.serialized).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            logger.warning(
                "Could not write down where networks are",
                metadata: ["file": "\(path)", "error": "\(error)"]
            )
        }
    }
}
