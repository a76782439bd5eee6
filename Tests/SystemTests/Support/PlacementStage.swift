import CarillonCore
import Foundation
import NIOHTTP1
import Postgres
import Testing

/// Home, a schema beside it, and a server of its own.
struct PlacementStage: Sendable {
    let scratch = Scratch()
    private let other = Scratch()
    let home: DatabaseServer
    let away: DatabaseServer

    init() {
        home = DatabaseServer(in: scratch)
        away = DatabaseServer(in: other)
    }

    var environment: [String: String] { environment(away: away.url()) }

    /// What services are started with that find the placement elsewhere by another URL.
    func environment(away url: String) -> [String: String] {
        home.environment.merging(["CARILLON_PLACEMENTS": "p1=\(home.url(schema: "p1")) p2=\(url)"]) { $1 }
    }

    func migrated() async throws {
        try await home.start()
        try await away.start()
        try await home.script("CREATE SCHEMA p1")
        let migrate = try Program(["migrate"], environment: environment, scratch: scratch)
        #expect(try await migrate.exitStatus() == 0, "\(migrate.errorText)")
        for name in ["default", "p1", "p2"] { #expect(migrate.outputText.contains("placement \(name):")) }
    }

    /// Starts a service, and waits until it can use all placements.
    func start() async throws -> RunningService {
        let service = try await RunningService.start(in: scratch, environment: environment)
        try await awaitAll(on: service)
        return service
    }

    /// Waits until a service can use all placements.
    func awaitAll(on service: RunningService) async throws {
        try await eventually("all placements being ready") {
            let health = try await service.management.send(.GET, "/health/ready")
            return health.status == 200 && health.json["placements"] == nil
        }
    }

    func stop() async {
        await away.stop()
        await home.stop()
    }
}

extension RunningService {
    /// Opens a placement, and makes a network in it.
    func network(_ id: String, in placement: String) async throws -> TestNetwork {
        let opened = try await call(.PATCH, "/v1/placements/\(placement)", ["state": "open"])
        try #require(opened.status == 200, "\(opened.text)")
        let body: JSONValue = ["id": .string(id), "placement": .string(placement)]
        let made = try await call(.POST, "/v1/networks", body)
        #expect(made.json["network"]?["placement"]?.text == placement)
        return try TestNetwork(id, madeBy: made, on: self)
    }

    /// Has a member with a device, and answers when an event has reached it.
    func notify(_ network: TestNetwork, _ event: String) async throws {
        let device = "\(network.id)-phone"
        try await network.addLogDevice(device, of: "bob")
        _ = try await network.accept(TestEvents.channelCreated("\(event)-c", members: ["alice", "bob"]))
        let id = try await network.accept(TestEvents.messageSent(event))
        try await eventually("the notification of \(event)") {
            logLines.contains { $0.eventID == id && $0.deviceID == device }
        }
    }

    func move(_ network: TestNetwork, to target: String) async throws -> TestClient.Answer {
        try await call(.POST, "/v1/networks/\(network.id)/move", ["to": .string(target)])
    }

    /// How far a network's move is.
    func moveStep(of network: TestNetwork) async throws -> String? {
        try await call(.GET, "/v1/networks/\(network.id)/move").json["step"]?.text
    }

    /// Waits until a network is where it is to be.
    func awaitArrival(of network: TestNetwork) async throws {
        try await eventually(within: .seconds(90), "the network being in its new placement") {
            try await moveStep(of: network) == "purging"
        }
    }
}
