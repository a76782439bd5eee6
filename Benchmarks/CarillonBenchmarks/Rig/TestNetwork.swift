import CarillonCore
import NIOCore

/// A network that a benchmark made, with what is needed to use it.
struct TestNetwork: Sendable {
    /// The network's path.
    let path: String
    /// The key of its admin.
    let apiKey: String
    /// What its events are signed with.
    let secret: WebhookSecret

    /// How long after it was made an endpoint is surely told or asked.
    private static let untilKnown = Duration.seconds(11)

    /// Makes a network, in a placement if one is named.
    static func make(
        _ id: String,
        in service: ServiceUnderTest,
        placement: String? = nil
    ) async throws -> TestNetwork {
        var document: JSONObject = ["id": .string(id)]
        if let placement { document["placement"] = .string(placement) }
        let answer = try await service.operator.create("/v1/networks", .object(document))
        guard case .object(let members) = answer, case .string(let key)? = members["apiKey"],
            case .string(let text)? = members["webhookSecret"], let secret = WebhookSecret(text)
        else { throw BenchmarkFailure("the answer to a new network lacks its key or its secret") }
        return TestNetwork(path: "/v1/networks/\(id)", apiKey: key, secret: secret)
    }

    /// Stores the credential of a push service.
    ///
    /// - Throws: ``UnexpectedAnswer`` when it is not taken, or what the connection fails with.
    func store(_ credential: JSONValue, of pushService: PushService, in service: ServiceUnderTest) async throws {
        let request = HTTPRequest.json("PUT", path + pushService.credentialPath, credential.serialized)
        _ = try await service.operator.send(request).expecting(201)
        guard case .webPush = pushService else { return }
        let hosts: JSONValue = ["webPushHosts": ["default", "127.0.0.1"]]
        // The simulator has to be allowed. A build that does not know the setting refuses it, and allows every host.
        _ = try await service.operator.send(.json("PATCH", path, hosts.serialized))
    }

    /// Fills the directory; answers how many seconds it took.
    /// - Throws: ``UnexpectedAnswer`` when not everything was taken, or what the connection fails with.
    func fill(with directory: DirectoryLines, in service: ServiceUnderTest) async throws -> Double {
        let devices = directory.device == nil ? 0 : directory.userCount
        return try await fill(with: directory.bytes, of: directory, devices: devices, in: service)
    }

    /// The same with devices of push services.
    func fill(with directory: PushDirectory, in service: ServiceUnderTest) async throws -> Double {
        try await fill(with: directory.bytes, of: directory.shape, devices: directory.devices.count, in: service)
    }

    /// Imports a member `u` of a channel `c` who has these devices, each the members of its JSON besides `id` and `userId`.
    func importMember(devices: some Sequence<String>, in service: ServiceUnderTest) async throws {
        var lines = #"{"channel":{"id":"c"}}"# + "\n" + #"{"user":{"id":"u"}}"# + "\n"
        lines += #"{"member":{"channelId":"c","userId":"u"}}"# + "\n"
        for (number, device) in devices.enumerated() {
            lines += #"{"device":{"id":"d-\#(number)","userId":"u",\#(device)}}"# + "\n"
        }
        _ = try await importing(Array(lines.utf8), in: service).expecting(200)
    }

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

    /// Imports lines; the answer is the caller's to judge.
    func importing(_ lines: [UInt8], in service: ServiceUnderTest) async throws -> HTTPAnswer {
        let request = HTTPRequest(
            method: "POST",
            path: path + "/import",
            headers: [("content-type", "application/x-ndjson")],
            body: lines
        )
        // Over a connection of its own: others need not wait for it.
        let client = HTTPClient(port: service.port, bearer: apiKey)
        let answer = try await client.send(request, limit: .minutes(10))
        await client.close()
        return answer
    }

    private func fill(
        with lines: [UInt8],
        of shape: DirectoryLines,
        devices: Int,
        in service: ServiceUnderTest
    ) async throws -> Double {
        let counts: JSONValue = [
            "users": JSONValue(shape.userCount),
            "channels": JSONValue(shape.channelCount),
            "members": JSONValue(shape.channelCount * shape.membersPerChannel),
            "devices": JSONValue(devices),
        ]
        let start = ContinuousClock.now
        let answer = try await importing(lines, in: service).expecting(200)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        guard try answer.json == counts else { throw UnexpectedAnswer(answer) }
        return seconds
    }
}

extension ServiceUnderTest {
    /// Has a placement take new networks, as soon as it can be used.
    func openPlacement(_ name: String) async throws {
        let request = HTTPRequest.json("PATCH", "/v1/placements/\(name)", Array(#"{"state":"open"}"#.utf8))
        _ = try await `operator`.send(request).expecting(200)
    }
}
