import CarillonCore
import CarillonSimulator
import CarillonWebhooks
import Foundation
import NIOHTTP1
import PushHTTP

/// The third act: what no event caused, and the chat backend's own server, which is told of everything and has a say.
struct DemoRelayScript: Sendable {
    private static let app = "com.example.chat"
    /// Endpoints are told of what is accepted this long after they were made, and a little later.
    private static let begin = Duration.milliseconds(10_500)

    private static let nothingShown = "woken, and nothing is shown"

    let stage: DemoStage
    let simulator: Simulator
    private let endpoints = DemoEndpoints()

    /// Plays it from the beginning to the end, and removes what it made.
    /// - Throws: When something does not come out as told.
    func play() async throws {
        stage.act("Act three: a tag, a silent push, and a server that listens and has its say.")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await endpoints.run() }
            defer { group.cancelAll() }
            try await stage.withNetwork("One more network, with the same people.") { network in
                let handsets = try await register(network)
                let since = ContinuousClock.now
                try await makeEndpoint(.observe, ["events": ["*"]], network)
                try await playTag(network, handsets)
                try await playSilence(network, handsets)
                try await playInterception(network, handsets)
                try await playObservation(network, since: since)
            }
        }
    }

    private func register(_ network: DemoClient.Network) async throws -> [DemoHandset] {
        stage.step("Devices: Bob has an iPhone, Carol an Android phone in Thai.")
        let key = simulator.apnsKey
        let apns: JSONValue = [
            "teamId": .string(key.teamID), "keyId": .string(key.keyID), "privateKey": .string(key.privateKeyPEM),
        ]
        let account: JSONValue = ["serviceAccount": try JSONValue(parsing: simulator.serviceAccountJSON)]
        for (path, credential) in [("apns", apns), ("fcm", account)] {
            let answer = try await stage.client.asAdmin(
                of: network,
                .put,
                "/providers/\(path)/apps/\(Self.app)",
                credential,
                isShown: false
            )
            guard answer.status == 200 || answer.status == 201 else { throw stage.unexpected(answer, "200 or 201") }
        }
        let handsets = Array(DemoHandset.cast(of: Self.app, on: simulator, publicKey: "").prefix(2))
        for handset in handsets { try await stage.register(handset, network) }
        return handsets
    }

    /// Makes an endpoint and keeps the secret with which it verifies.
    private func makeEndpoint(
        _ role: DemoEndpoints.Role,
        _ settings: JSONObject,
        _ network: DemoClient.Network
    ) async throws {
        guard let url = try await stage.waitFor({ endpoints.url(of: role) }) else {
            throw StartError("the server of the endpoints did not start")
        }
        var body: JSONObject = ["url": .string(url), "mode": .string(role.rawValue)]
        for (name, value) in settings.members { body[name] = value }
        let made = try await stage.client.asAdmin(of: network, .post, "/endpoints", .object(body))
        guard made.status == 201, let secret = made["secret"]?.text.flatMap(SigningSecret.init) else {
            throw stage.unexpected(made, "an endpoint")
        }
        endpoints.expect(secret, for: role)
    }

    private func playTag(_ network: DemoClient.Network, _ handsets: [DemoHandset]) async throws {
        stage.step("A tag: Bob subscribes to offers, and only he hears of them.")
        try await stage.put(network, "/tags/offers", ["selfService": true])
        try await stage.client.asApp(of: "bob", in: network, .put, "/tags/offers/users/me")
        let offer: JSONValue = ["to": ["tags": ["offers"]], "title": "Half price", "body": "Until noon"]
        try await notify(offer, network, handsets, expecting: ["bob": "Half price | Until noon"])
    }

    private func playSilence(_ network: DemoClient.Network, _ handsets: [DemoHandset]) async throws {
        stage.step("A silent push wakes every app; nothing is shown but a number on Bob's icon.")
        let silent: JSONValue = [
            "to": ["everyone": true], "kind": "silent", "data": ["sync": true],
            "apns": ["payload": ["aps": ["badge": 3]]],
        ]
        let arrived = try await notify(
            silent,
            network,
            handsets,
            expecting: ["bob": Self.nothingShown, "carol": Self.nothingShown]
        )
        let badge = arrived["bob"]?.json["aps"]
        stage.terminal.line("  Bob's iPhone was told: \(badge?.serializedText ?? "")")
        guard badge == ["content-available": 1, "badge": 3] else {
            throw StartError("the silent push is not as written")
        }
    }

    private func playInterception(_ network: DemoClient.Network, _ handsets: [DemoHandset]) async throws {
        stage.step("An endpoint is asked about each message before it goes out: it rewrites one, and stops another.")
        try await makeEndpoint(.intercept, ["events": ["message.sent"], "timeoutMs": 5_000], network)
        let created = DemoStage.newID(.channelCreated)
        _ = try await stage.finish(DemoEvent.channelCreated.json(id: created), created, in: network)
        for (words, expected) in [
            ("Where is the darn key?", "Where is the d*** key?"), ("Buy spam now", nil), ("Found it", "Found it"),
        ] {
            let event = DemoEvent.messageSent(words)
            let sourceID = DemoStage.newID(event)
            let seen = simulator.received.total
            let (_, state) = try await stage.finish(event.json(id: sourceID), sourceID, in: network)
            let bodies = Set(simulator.received.notifications.dropFirst(seen).map { $0.body ?? "" })
            stage.terminal.line("  \(words) → \(bodies.first ?? "nobody is notified")")
            stage.remark("\(state["interception"]?.serializedText ?? "")")
            guard bodies == Set([expected].compactMap(\.self)) else {
                throw StartError("expected \(expected ?? "nothing"), but it was \(bodies.sorted())")
            }
        }
    }

    private func playObservation(_ network: DemoClient.Network, since made: ContinuousClock.Instant) async throws {
        stage.step("The other endpoint is told of every event, from ten seconds after it was made.")
        try await Task.sleep(until: made + Self.begin, clock: .continuous)
        let event = DemoEvent.messageSent("This is for the archive, too")
        let sourceID = DemoStage.newID(event)
        _ = try await stage.finish(event.json(id: sourceID), sourceID, in: network)
        guard let told = try await stage.waitFor({ endpoints.seen(sourceID) }) else {
            throw StartError("the endpoint was not told of the message")
        }
        stage.terminal.line("  as it was posted, signed: \(told["data"]?["message"]?.serializedText ?? "")")
        stage.remark("with \(told["carillon"]?.serializedText ?? "")")
    }

    /// Sends a direct notification and shows what arrived; the words that each owner of a handset is to see.
    @discardableResult
    private func notify(
        _ notification: JSONValue,
        _ network: DemoClient.Network,
        _ handsets: [DemoHandset],
        expecting expected: [String: String]
    ) async throws -> [String: ReceivedNotification] {
        let seen = simulator.received.total
        let accepted = try await stage.client.asAdmin(of: network, .post, "/notifications", notification)
        guard accepted.status == 202, let id = accepted["id"]?.text else { throw stage.unexpected(accepted, "a 202") }
        _ = try await stage.state(of: id, in: network)
        var arrived: [String: ReceivedNotification] = [:]
        for handset in handsets {
            let sent = simulator.received.notifications.dropFirst(seen).last { $0.deviceToken == handset.token }
            arrived[handset.owner] = sent
            let text = sent.map { sent in
                sent.title == nil && sent.body == nil
                    ? Self.nothingShown : "\(sent.title ?? "") | \(sent.body ?? "")"
            }
            stage.terminal.line("  \(handset.owner.capitalized.padded(to: 6)) \(text ?? "nothing")")
            guard text == expected[handset.owner] else {
                throw StartError(
                    "\(handset.owner) got \(text ?? "nothing"), not \(expected[handset.owner] ?? "nothing")"
                )
            }
        }
        return arrived
    }
}

extension ReceivedNotification {
    fileprivate var json: JSONValue { (try? JSONValue(parsing: payload)) ?? .null }
}
