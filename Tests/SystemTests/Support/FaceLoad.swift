import CarillonCore
import CarillonSimulator
import NIOHTTP1
import Synchronization
import Testing

/// A homeserver and a back end, which send through other systems' APIs until they are told to stop, to several services in turn as
/// through a load balancer, and remember what was taken.
final class FaceLoad: Sendable {
    /// An answer that took nothing.
    struct Refusal: Hashable {
        let face: String
        let status: UInt
        /// What the face's envelope says.
        let code: String?
    }

    private struct State {
        var events: [String: String] = [:]
        var alerts: Set<String> = []
        var refusals: Set<Refusal> = []
        var isOver = false
    }

    /// Between requests: whoever holds a pushkey may not be sent more than ten a second.
    private static let pause = Duration.milliseconds(40)
    private static let application = "com.example.mfp"
    private static let secret = "a-secret-that-the-back-end-has-had-for-long"

    private let networks: [TestNetwork]
    private let pushkeys = (0..<8).map { _ in SimulatedToken.apns() }
    private let phone = SimulatedToken.apns()
    private let state = Mutex(State())

    /// Binds both, and registers a phone, at the first of these services' networks.
    init(on networks: [TestNetwork], operatorToken: String, _ simulator: Simulator) async throws {
        self.networks = networks
        let network = try #require(networks.first)
        try await network.storeAPNsCredential(simulator.apnsKey)
        let app = TestNetwork.app
        for (method, path, body) in [
            (.PUT, "matrix/\(app)", ["provider": "apns"]),
            (.PUT, "imfpush/\(Self.application)", ["A": ["appId": .string(app)]]),
            (
                .POST, "imfpush/keys",
                ["name": "back-end", "secret": .string(Self.secret), "rights": ["appSecret"]]
            ),
        ] as [(HTTPMethod, String, JSONValue)] {
            let answer = try await network.client.send(
                method,
                "/v1/networks/\(network.id)/faces/\(path)",
                token: operatorToken,
                body: body.serialized
            )
            try #require(answer.status == 201, "\(answer.text)")
        }
        let device: JSONValue = ["deviceId": "phone", "platform": "A", "token": .string(phone)]
        let answer = try await send(.POST, "devices", device, on: network)
        try #require(answer.status == 201, "\(answer.text)")
        // The other services know of it in a moment.
        for network in networks {
            try await eventually("the faces at \(network.client.base)") {
                try await send(.GET, "devices/phone", on: network).status == 200
            }
        }
    }

    /// How much was taken of both.
    var taken: Int { state.withLock { min($0.events.count, $0.alerts.count) } }
    /// Everything that was answered and not taken.
    var refusals: Set<Refusal> { state.withLock(\.refusals) }

    /// Sends while `body` runs.
    func run<Value: Sendable>(during body: () async throws -> Value) async throws -> Value {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.sendEvents() }
            group.addTask { await self.sendAlerts() }
            defer { state.withLock { $0.isOver = true } }
            return try await body()
        }
    }

    /// Waits until everything that was taken has reached its phone.
    func expectDelivery(by simulator: Simulator, within limit: Duration) async throws {
        let (events, alerts) = state.withLock { ($0.events, $0.alerts) }
        try await eventually(
            within: limit,
            "delivery of \(events.count) events and \(alerts.count) messages"
        ) {
            let pushed = Set(
                pushkeys.flatMap(simulator.accepted).compactMap { $0.json["event_id"]?.text }
            )
            let shown = Set(
                simulator.accepted(for: phone).compactMap { $0.json["aps"]?["alert"]?["body"]?.text }
            )
            return Set(events.keys).isSubset(of: pushed) && alerts.isSubset(of: shown)
        }
    }

    /// One event after the other, each until it is taken.
    private func sendEvents() async {
        var (number, attempt) = (0, 0)
        while !isOver {
            let (event, pushkey) = ("$\(number)", pushkeys[number % pushkeys.count])
            let body: JSONValue = [
                "notification": [
                    "event_id": .string(event), "room_id": "!r:x", "type": "m.room.message", "sender": "@a:x",
                    "content": ["msgtype": "m.text", "body": .string(event)],
                    "devices": [["app_id": .string(TestNetwork.app), "pushkey": .string(pushkey)]],
                ]
            ]
            let network = networks[attempt % networks.count]
            let answer = try? await network.client.send(
                .POST,
                "/_matrix/push/v1/notify",
                body: body.serialized
            )
            if let answer, note(answer, "matrix", "errcode", { $0.events[event] = pushkey }) {
                number += 1
            }
            attempt += 1
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// Messages of which none is repeated: one that was answered with an error may have arrived.
    private func sendAlerts() async {
        var number = 0
        while !isOver {
            let alert = "message \(number)"
            let body: JSONValue = [
                "message": ["alert": .string(alert)], "target": ["deviceIds": ["phone"]],
            ]
            let answer = try? await send(.POST, "messages", body, on: networks[number % networks.count])
            if let answer { _ = note(answer, "imfpush", "code") { $0.alerts.insert(alert) } }
            number += 1
            try? await Task.sleep(for: Self.pause)
        }
    }

    private var isOver: Bool { state.withLock(\.isOver) || Task.isCancelled }

    /// Writes down what an answer says; `true` when what was sent was taken.
    private func note(
        _ answer: TestClient.Answer,
        _ face: String,
        _ code: String,
        _ taken: (inout State) -> Void
    ) -> Bool {
        state.withLock { state in
            guard !(200...299).contains(answer.status) else {
                taken(&state)
                return true
            }
            state.refusals.insert(
                Refusal(face: face, status: answer.status, code: answer.json[code]?.text)
            )
            return false
        }
    }

    private func send(
        _ method: HTTPMethod,
        _ path: String,
        _ body: JSONValue? = nil,
        on network: TestNetwork
    ) async throws -> TestClient.Answer {
        try await network.client.send(
            method,
            "/imfpush/v1/apps/\(Self.application)/\(path)",
            headers: ["appSecret": Self.secret],
            body: body?.serialized
        )
    }
}
