import Synchronization

/// Strangers who ask for what there is not and show keys that open nothing, as fast as they are answered: each answer is worth a line.
final class Refusals: Neighbour {
    private static let connections = 16
    private static let megabytesPerSecond = 0.1

    private let asking = Asking()
    private let start = Mutex((bytes: 0, at: ContinuousClock.now))

    func misbehave(_ network: TestNetwork, _ scene: Scene) async throws {
        let size = try scene.service.log.size
        start.withLock { $0 = (size, .now) }
        await asking.keep(Self.connections, of: scene.service.port, bearer: "ck_nobody_nothing") { number in
            let id = [(name: "x-request-id", value: String(repeating: "x", count: 128))]
            return HTTPRequest(path: number.isMultiple(of: 2) ? "/nowhere" : network.path, headers: id)
        }
    }

    func figures(_ scene: Scene) async throws -> [Figure] {
        let (before, since) = start.withLock(\.self)
        let megabytes = Double(try scene.service.log.size - before) / 1e6
        let rate = megabytes / ((ContinuousClock.now - since) / .seconds(1))
        return asking.figures + [Figure("log written", rate, "MB/s", goal: .atMost(Self.megabytesPerSecond))]
    }
}
