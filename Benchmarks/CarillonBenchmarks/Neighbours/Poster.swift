import CarillonCore

/// Posts messages for a neighbour, whatever becomes of them.
struct Poster: Sendable {
    private let path: String
    private let client: HTTPClient

    /// A poster for a network.
    init(network: TestNetwork, in scene: Scene) {
        path = "\(network.path)/events"
        client = HTTPClient(port: scene.service.port, bearer: network.apiKey)
    }

    /// Posts a message.
    /// - Throws: What the connection fails with.
    func post(_ id: String, channel: String) async throws {
        let body =
            #"{"id":"\#(id)","type":"message.sent","data":{"channel":{"id":"\#(channel)"},"user":{"id":"sender"},"#
            + #""message":{"id":"m","type":"text","text":"Hello"}}}"#
        _ = try await client.send(.json("POST", path, Array(body.utf8)))
    }

    /// Posts messages to the channel `c`, one in each interval, until it is cancelled.
    /// - Throws: What the connection fails with.
    func keepPosting(_ run: String, every interval: Duration) async throws {
        var number = 0
        while !Task.isCancelled {
            number += 1
            try await post("\(run)-\(number)", channel: "c")
            try? await Task.sleep(for: interval)
        }
    }
}
