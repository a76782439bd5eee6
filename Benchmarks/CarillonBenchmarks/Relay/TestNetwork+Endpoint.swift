import CarillonCore

extension TestNetwork {
    /// How long after it was made an endpoint is surely told or asked.
    private static let untilKnown = Duration.seconds(11)

    /// Makes an endpoint for all events on a port of this machine, and waits until events reach it.
    func makeEndpoint(_ mode: String, port: Int, in service: ServiceUnderTest) async throws {
        let client = HTTPClient(port: service.port, bearer: apiKey)
        _ = try await client.create(
            path + "/endpoints",
            ["url": .string("http://127.0.0.1:\(port)/"), "mode": .string(mode), "events": ["*"]]
        )
        await client.close()
        try await Task.sleep(for: Self.untilKnown)
    }
}
