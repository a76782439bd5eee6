import Synchronization

/// A network that stores as many templates as it may, and uses them.
final class ManyTemplates: Neighbour {
    private static let templates = 6_000
    private static let types = ["channel.created", "member.joined", "message.sent"]

    private static let interval = Duration.milliseconds(200)

    private let refusals = Mutex(0)

    func prepare(_ network: TestNetwork, _ scene: Scene) async throws {
        let lines = [
            #"{"channel":{"id":"c"}}"#, #"{"user":{"id":"u"}}"#, #"{"member":{"channelId":"c","userId":"u"}}"#,
            #"{"device":{"id":"d","userId":"u","provider":"log"}}"#,
        ]
        _ = try await network.importing(Array(lines.joined(separator: "\n").utf8), in: scene.service).expecting(200)
        let client = HTTPClient(port: scene.service.port, bearer: network.apiKey)
        for number in 0..<scene.scaled(Self.templates) {
            let answer = try await put(number, client, network)
            guard [200, 201, 409].contains(answer.status) else { throw UnexpectedAnswer(answer) }
            if answer.status == 409 { refusals.withLock { $0 += 1 } }
        }
    }

    /// Changes one template again and again, so that all of them are read anew for the next message.
    func misbehave(_ network: TestNetwork, _ scene: Scene) async throws {
        let poster = Poster(network: network, in: scene)
        let client = HTTPClient(port: scene.service.port, bearer: network.apiKey)
        var number = 0
        while !Task.isCancelled {
            number += 1
            _ = try await put(0, client, network)
            try await poster.post("message-\(number)", channel: "c")
            try? await Task.sleep(for: Self.interval)
        }
    }

    private func put(_ number: Int, _ client: HTTPClient, _ network: TestNetwork) async throws -> HTTPAnswer {
        let path = "\(network.path)/templates/\(Self.types[number % 3])/en-x-t\(number / 3)"
        // Only messages have so much text; the others' bodies have other arguments.
        let text = number % 3 == 2 ? String(repeating: "All of this is text. ", count: 375) + "%s" : "Hello"
        return try await client.send(.json("PUT", path, Array(#"{"title":"Hello","body":"\#(text)"}"#.utf8)))
    }

    func figures(_ scene: Scene) async throws -> [Figure] {
        [Figure("templates refused with 409", count: refusals.withLock(\.self))]
    }
}
