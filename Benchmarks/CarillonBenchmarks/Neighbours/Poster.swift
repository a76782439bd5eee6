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
        let type = (name: "content-type", value: "application/json")
        _ = try await client.send(HTTPRequest(method: "POST", path: path, headers: [type], body: Array(body.utf8)))
    }
}
