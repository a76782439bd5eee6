import NIOCore

/// Strangers who ask for what there is not and show keys that open nothing, as fast as they are answered: each answer is worth a line.
struct Refusals: Neighbour {
    private static let connections = 16
    private static let megabytesPerSecond = 0.1

    private let asking = Asking()
    private let written = WrittenLog()

    func misbehave(_ network: TestNetwork, _ scene: Scene) async throws {
        written.begin(try scene.service.log.size)
        await asking.keep(Self.connections, of: scene.service.port, bearer: "ck_nobody_nothing") { number in
            let id = [(name: "x-request-id", value: String(repeating: "x", count: 128))]
            return HTTPRequest(path: number.isMultiple(of: 2) ? "/nowhere" : network.path, headers: id)
        }
    }

    func figures(_ scene: Scene) async throws -> [Figure] {
        let rate = written.rate(try scene.service.log.size)
        return asking.figures + [Figure("log written", rate, "MB/s", goal: .atMost(Self.megabytesPerSecond))]
    }
}
