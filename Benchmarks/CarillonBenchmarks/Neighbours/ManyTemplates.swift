import Synchronization

/// A network that stores as many templates as it may, and uses them.
struct ManyTemplates: Neighbour {
    private static let templates = 6_000
    private static let types = ["channel.created", "member.joined", "message.sent"]

    private let refusals = Refusals()

    var headStart: Duration { .seconds(10) }

    func prepare(_ network: TestNetwork, _ scene: Scene) async throws {
        let lines = [
            #"{"channel":{"id":"c"}}"#, #"{"user":{"id":"u"}}"#, #"{"member":{"channelId":"c","userId":"u"}}"#,
            #"{"device":{"id":"d","userId":"u","provider":"log"}}"#,
        ]
        _ = try await network.importing(Array(lines.joined(separator: "\n").utf8), in: scene.service).expecting(200)
    }

    func misbehave(_ network: TestNetwork, _ scene: Scene) async throws {
        let poster = Poster(network: network, in: scene)
        let client = HTTPClient(port: scene.service.port, bearer: network.apiKey)
        let text = String(repeating: "All of this is text. ", count: 500)
        let type = (name: "content-type", value: "application/json")
        for number in 0..<scene.scaled(Self.templates) {
            try Task.checkCancellation()
            let path = "\(network.path)/templates/\(Self.types[number % 3])/en-x-t\(number / 3)"
            let body = Array(#"{"title":"%s","body":"\#(text)%s"}"#.utf8)
            let answer = try await client.send(HTTPRequest(method: "PUT", path: path, headers: [type], body: body))
            if answer.status == 409 { refusals.add() }
            if number % 50 == 0 { try await poster.post("message-\(number)", channel: "c") }
        }
    }

    func figures(_ scene: Scene) async throws -> [Figure] {
        [Figure("templates refused with 409", count: refusals.count)]
    }

    private final class Refusals: Sendable {
        private let number = Mutex(0)

        var count: Int { number.withLock { $0 } }

        func add() { number.withLock { $0 += 1 } }
    }
}
