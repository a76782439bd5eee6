/// A load of `ingest`'s events by which builds of the program are compared.
struct EventLoad: Sendable {
    /// What it is called in a table.
    var name: String
    var connections = 1
    /// More than one make a batch of so many whatever the machine is doing.
    var eventsPerRequest = 1
    /// The device that everybody has, if any: an event notifies four.
    var device: DirectoryLines.Device?

    /// Makes its network and fills its directory.
    func scenario(in service: ServiceUnderTest) async throws -> IngestScenario {
        let id = "n-\(connections)-\(eventsPerRequest)\(device == nil ? "" : "-devices")"
        let shape = DirectoryLines(userCount: 1_000, channelCount: 200, membersPerChannel: 5, device: device)
        var scenario = try await IngestScenario(name, network: id, shape, .native(.named), in: service)
        scenario.connections = connections
        scenario.eventsPerRequest = eventsPerRequest
        return scenario
    }
}
