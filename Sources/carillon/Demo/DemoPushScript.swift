import CarillonCore
import CarillonSimulator
import Foundation
import NIOHTTP1
import PushHTTP

/// The second act: the same three events reach an iPhone, an Android phone and a browser, and one of them goes away.
///
/// The push services are a ``Simulator``, which shows what the devices would: what it has been sent, decoded.
struct DemoPushScript: Sendable {
    private static let app = "com.example.chat"

    let stage: DemoStage
    let simulator: Simulator

    /// Plays it from the beginning to the end, and removes what it made.
    /// - Throws: When something does not come out as told.
    func play() async throws {
        stage.act("Act two: the same three events reach an iPhone, an Android phone and a browser.")
        stage.remark("Apple's, Google's and a browser vendor's services are simulated, over real HTTP/2 and TLS.")
        try await stage.withNetwork("Another network, with the same people.") { network in
            let publicKey = try await storeCredentials(network)
            let handsets = try await register(network, publicKey: publicKey)
            try await playEvents(network, handsets)
            try await playDeparture(network, handsets)
        }
    }

    /// Answers the key with which browsers subscribe.
    private func storeCredentials(_ network: DemoClient.Network) async throws -> String {
        stage.step("Credentials: what Apple, Google and browsers know the operator by. Encrypted at rest, never shown.")
        let key = simulator.apnsKey
        func apns(_ privateKey: String) -> JSONValue {
            ["teamId": .string(key.teamID), "keyId": .string(key.keyID), "privateKey": .string(privateKey)]
        }
        try await stage.put(
            network,
            "/providers/apns/apps/\(Self.app)",
            apns(key.privateKeyPEM),
            shown: apns("-----BEGIN PRIVATE KEY-----…")
        )
        try await stage.put(
            network,
            "/providers/fcm/apps/\(Self.app)",
            ["serviceAccount": try JSONValue(parsing: simulator.serviceAccountJSON)],
            shown: ["serviceAccount": ["type": "service_account", "project_id": "…", "private_key": "…"]]
        )
        let subject: JSONValue = ["subject": "mailto:ops@example.com"]
        try await stage.put(network, "/providers/webpush", subject)
        stage.remark("Browsers' push services are few and known; the simulated one is allowed beside them.")
        let hosts: JSONValue = ["webPushHosts": [.string(WebPushHosts.wellKnown), "127.0.0.1"]]
        let changed = try await stage.client.asAdmin(of: network, .patch, "", hosts)
        guard changed.status == 200 else { throw stage.unexpected(changed, "200") }
        let answer = try await stage.client.asAdmin(of: network, .get, "/providers/webpush/key")
        guard let publicKey = answer["publicKey"]?.text else { throw stage.unexpected(answer, "a public key") }
        stage.terminal.line("  the key with which browsers subscribe, made for this network: \(publicKey.prefix(16))…")
        return publicKey
    }

    private func register(_ network: DemoClient.Network, publicKey: String) async throws -> [DemoHandset] {
        stage.step("Devices: Bob has an iPhone, Carol an Android phone in Thai, Dave a browser.")
        let handsets = DemoHandset.cast(of: Self.app, on: simulator, publicKey: publicKey)
        for handset in handsets { try await stage.register(handset, network) }
        return handsets
    }

    private func playEvents(_ network: DemoClient.Network, _ handsets: [DemoHandset]) async throws {
        let everybody = Set(handsets.map(\.owner))
        stage.step("channel.created: Alice opens a channel with Bob, Carol and Dave.")
        try await play(.channelCreated, in: network, handsets, expecting: everybody)
        stage.step("member.joined: Erin joins.")
        try await play(.memberJoined("erin"), in: network, handsets, expecting: everybody)
        stage.step("message.sent: Alice writes.")
        try await play(.messageSent("Hello everybody"), in: network, handsets, expecting: everybody)
    }

    /// One of the devices is told to be gone, and the others get theirs.
    private func playDeparture(_ network: DemoClient.Network, _ handsets: [DemoHandset]) async throws {
        stage.step("Bob deletes the app: from now on APNs answers 410 for his iPhone.")
        let (gone, others) = (handsets[0], handsets.dropFirst())
        simulator.removeDevice(gone.token)
        try await play(.messageSent("Who is still here?"), in: network, handsets, expecting: Set(others.map(\.owner)))
        for handset in handsets {
            let device = try await stage.client.asAdmin(of: network, .get, "/devices/\(handset.id)")
            let (state, error) = (device["state"]?.text ?? "unknown", device["error"]?.text)
            let isActive = state == "active"
            let shown = stage.terminal.styled(state, isActive ? .green : .red)
            stage.terminal.line("  \(handset.id.padded(to: 14)) \(shown)\(error.map { " (\($0))" } ?? "")")
            let expected = handset.id == gone.id ? "unregistered" : "active"
            guard state == expected else { throw StartError("\(handset.id) should be \(expected), but is \(state)") }
        }
    }

    /// Posts an event, waits until it is done, and shows what arrived on each device.
    private func play(
        _ event: DemoEvent,
        in network: DemoClient.Network,
        _ handsets: [DemoHandset],
        expecting notified: Set<String>
    ) async throws {
        let sourceID = DemoStage.newID(event)
        let body = event.json(id: sourceID)
        let seen = simulator.received.total
        let (id, state) = try await stage.finish(body, sourceID, in: network)
        let arrived = simulator.received.notifications.dropFirst(seen)
        let deliveries = try await stage.deliveries(of: id, in: network)
        var reached: Set<String> = []
        for handset in handsets {
            let sent = arrived.filter { $0.deviceToken == handset.token }
            let delivery = deliveries.first { $0["deviceId"]?.text == handset.id }
            guard let first = sent.first, sent.count == 1 else {
                throw StartError("\(handset.id) should have been sent one notification, but it was \(sent.count)")
            }
            stage.terminal.line("  " + line(handset, delivery?["state"]?.text ?? "unknown", first))
            guard first.isAccepted else { continue }
            let text = try await stage.explain(body, for: handset.owner, in: network)["notification"]
            guard first.title == text?["title"]?.text, first.body == text?["body"]?.text else {
                throw StartError("\(handset.id) got another text than /explain says")
            }
            reached.insert(handset.owner)
        }
        stage.remark("GET /events/\(id): \(state["deliveries"]?.serializedText ?? "")")
        guard reached == notified else {
            throw StartError("expected \(notified.sorted()) to be reached, but it was \(reached.sorted())")
        }
    }

    private func line(_ handset: DemoHandset, _ state: String, _ notification: ReceivedNotification) -> String {
        let isDelivered = state == "delivered"
        let outcome = stage.terminal.styled(state.padded(to: 12), isDelivered ? .green : .red)
        let status = notification.status.map(String.init) ?? "no answer"
        let text =
            notification.isAccepted
            ? "\(notification.title ?? "") | \(notification.body ?? "")" : notification.reason ?? ""
        return "\(handset.owner.capitalized.padded(to: 6)) \(outcome) \(handset.name.padded(to: 8)) \(status)  \(text)"
    }
}
