import CarillonCore
import CarillonSimulator
import CarillonWebhooks
import Foundation
import NIOHTTP1
import PushHTTP

/// The main job: people and their devices, three events and three toggles; and, where there are simulated push services, an
/// iPhone, an Android phone and a browser, a tag, a silent push, and a server that is told of everything and has a say.
struct DemoScript: Sendable {
    private static let people = ["alice", "bob", "carol", "dave", "erin"]
    private static let app = "com.example.chat"
    /// Endpoints are told of what is accepted this long after they were made, and a little later.
    private static let begin = Duration.milliseconds(10_500)
    private static let nothingShown = "woken, and nothing is shown"

    private let network: DemoNetwork
    private let server: DemoServer
    private let simulator: Simulator?
    /// The file of what the log provider has written.
    private let logFile: String?

    private var stage: DemoStage { network.stage }

    /// Plays it from the beginning to the end, and removes what it made.
    /// - Throws: When something does not come out as told.
    static func play(on stage: DemoStage, with simulator: Simulator? = nil, logFile: String? = nil) async throws {
        let server = DemoServer()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            defer { group.cancelAll() }
            let text = "A network is one tenant: it has its own users, channels, keys and switches."
            try await stage.withNetwork(text) { network in
                let script = DemoScript(network: network, server: server, simulator: simulator, logFile: logFile)
                try await script.play()
            }
        }
    }

    private func play() async throws {
        var devices = try await registerDevices()
        guard let simulator else {
            try await playEvents(devices)
            return try await playToggles(devices)
        }
        devices += try await registerHandsets(simulator)
        let since = ContinuousClock.now
        try await makeEndpoint(.observe, ["events": ["*"]])
        try await playEvents(devices)
        try await playTag(devices, simulator)
        try await playSilence(devices, simulator)
        try await playInterception(simulator)
        devices = try await playDeparture(devices, simulator)
        try await playToggles(devices)
        try await playObservation(since: since)
    }
}

// MARK: - Devices and endpoints

extension DemoScript {
    /// Bob and Carol have a device of the `log` provider; Dave's is a webhook to this machine.
    private func registerDevices() async throws -> [DemoDevice] {
        stage.step("Devices: Bob reads English, Carol Thai; Dave's notifications go to a webhook.")
        let answer = try await network.asAdmin(.post, "/providers/webhook/secret")
        guard answer.status == 201, let secret = answer["secret"]?.text.flatMap(SigningSecret.init) else {
            throw answer.unexpected("a secret for webhooks")
        }
        server.expect(secret, for: .device)
        let url = try await DemoStage.waitFor("the demo's server") { server.url(of: .device) }
        let devices = DemoDevice.plain(url: url)
        for device in devices {
            let registered = try await network.asAdmin(.put, "/devices/\(device.id)", device.registration)
            if registered.status == 400, device.registration["url"] != nil {
                throw StartError(
                    """
                    this service may not send to 127.0.0.1, where the demo takes webhooks: \
                    start it with \(Setting.egressAllow.variable)=127.0.0.0/8, or play the demo without --url
                    """
                )
            }
            guard registered.status == 201 else { throw registered.unexpected("201") }
        }
        return devices
    }

    private func registerHandsets(_ simulator: Simulator) async throws -> [DemoDevice] {
        stage.step("Credentials: what Apple, Google and browsers know the operator by. Encrypted at rest, never shown.")
        stage.remark("Apple's, Google's and a browser vendor's services are simulated, over real HTTP/2 and TLS.")
        let key = simulator.apnsKey
        func apns(_ privateKey: String) -> JSONValue {
            ["teamId": .string(key.teamID), "keyId": .string(key.keyID), "privateKey": .string(privateKey)]
        }
        try await network.put(
            "/providers/apns/apps/\(Self.app)",
            apns(key.privateKeyPEM),
            shown: apns("-----BEGIN PRIVATE KEY-----…")
        )
        try await network.put(
            "/providers/fcm/apps/\(Self.app)",
            ["serviceAccount": try JSONValue(parsing: simulator.serviceAccountJSON)],
            shown: ["serviceAccount": ["type": "service_account", "project_id": "…", "private_key": "…"]]
        )
        try await network.put("/providers/webpush", ["subject": "mailto:ops@example.com"])
        stage.remark("Browsers' push services are few and known; the simulated one is allowed beside them.")
        let hosts: JSONValue = ["webPushHosts": [.string(WebPushHosts.wellKnown), "127.0.0.1"]]
        let changed = try await network.asAdmin(.patch, "", hosts)
        guard changed.status == 200 else { throw changed.unexpected("200") }
        let answer = try await network.asAdmin(.get, "/providers/webpush/key")
        guard let publicKey = answer["publicKey"]?.text else { throw answer.unexpected("a public key") }
        stage.terminal.line("  the key with which browsers subscribe, made for this network: \(publicKey.prefix(16))…")
        stage.step("More devices: Bob has an iPhone, Carol an Android phone in Thai, Dave a browser.")
        let handsets = DemoDevice.handsets(of: Self.app, on: simulator, publicKey: publicKey)
        for handset in handsets {
            try await network.asApp(of: handset.owner, .put, "/devices/\(handset.id)", handset.registration)
        }
        return handsets
    }

    /// Makes an endpoint at the demo's server.
    private func makeEndpoint(_ role: DemoServer.Role, _ settings: JSONObject) async throws {
        var body: JSONObject = ["url": .string(server.url(of: role) ?? ""), "mode": .string(role.rawValue)]
        for (name, value) in settings.members { body[name] = value }
        let made = try await network.asAdmin(.post, "/endpoints", .object(body))
        guard made.status == 201, let secret = made["secret"]?.text.flatMap(SigningSecret.init) else {
            throw made.unexpected("an endpoint")
        }
        server.expect(secret, for: role)
    }
}

// MARK: - Events and toggles

extension DemoScript {
    private func playEvents(_ devices: [DemoDevice]) async throws {
        stage.step("channel.created: Alice opens a channel with Bob, Carol and Dave.")
        try await play(.channelCreated, devices, expecting: ["bob", "carol", "dave"])
        stage.step("member.joined: Erin joins, and those who were there hear of it.")
        try await play(.memberJoined("erin"), devices, expecting: ["bob", "carol", "dave"])
        stage.step("message.sent: Alice writes; Erin is concerned too, but has no device.")
        try await play(.messageSent("Hello everybody"), devices, expecting: ["bob", "carol", "dave"])
    }

    private func playToggles(_ devices: [DemoDevice]) async throws {
        stage.step("The network's toggle: no notifications when somebody joins.")
        try await network.put("/notifications", ["events": ["member.joined": ["enabled": false]]])
        try await play(.memberJoined("frank"), devices, expecting: [])
        stage.step("A user's toggle: Bob wants nothing at all.")
        try await network.asApp(of: "bob", .patch, "/users/me/notifications", ["enabled": false])
        try await play(.messageSent("Is Bob there?"), devices, expecting: ["carol", "dave"])
        stage.step("A channel's toggle: Carol mutes this channel, unless she is mentioned.")
        let channel = "/users/me/channels/general/notifications"
        try await network.asApp(of: "carol", .patch, channel, ["mentionsOnly": true])
        try await play(.messageSent("Nobody in particular"), devices, expecting: ["dave"])
        try await play(.messageSent("Carol?", mentions: ["carol"]), devices, expecting: ["carol", "dave"])
    }

    /// From now on APNs answers 410 for Bob's iPhone; answers the devices that are left.
    private func playDeparture(_ devices: [DemoDevice], _ simulator: Simulator) async throws -> [DemoDevice] {
        stage.step("Bob deletes the app: from now on APNs answers 410 for his iPhone.")
        guard let gone = devices.first(where: { $0.name == "iPhone" }), let token = gone.token else { return devices }
        simulator.removeDevice(token)
        let event = DemoEvent.messageSent("Who is still here?")
        try await play(event, devices, expecting: ["bob", "carol", "dave"], losing: gone.id)
        for device in devices {
            let stored = try await network.asAdmin(.get, "/devices/\(device.id)")
            let (state, error) = (stored["state"]?.text ?? "unknown", stored["error"]?.text)
            let expected = device.id == gone.id ? "unregistered" : "active"
            let shown = stage.terminal.styled(state, state == "active" ? .green : .red)
            stage.terminal.line("  \(device.id.padded(to: 14)) \(shown)\(error.map { " (\($0))" } ?? "")")
            guard state == expected else { throw StartError("\(device.id) should be \(expected), but is \(state)") }
        }
        return devices.filter { $0.id != gone.id }
    }

    /// Posts an event, waits until it is done, and shows what became of it for everybody and on each device.
    private func play(
        _ event: DemoEvent,
        _ devices: [DemoDevice],
        expecting notified: Set<String>,
        losing lost: String? = nil
    ) async throws {
        let body = event.json()
        let seen = simulator?.received.total ?? 0
        let (id, state) = try await network.post(body)
        let deliveries = try await network.deliveries(of: id)
        var delivered: Set<String> = []
        for person in Self.people {
            let explanation = try await network.explain(body, for: person)
            let words = explanation["notification"]
            let text = "\(words?["title"]?.text ?? "") | \(words?["body"]?.text ?? "")"
            var isConcerned = false
            for device in devices where device.owner == person {
                guard let delivery = deliveries.first(where: { $0["deviceId"]?.text == device.id }) else { continue }
                isConcerned = true
                let arrival = try device.token.map { try self.arrival($0, of: device, since: seen) }
                if let arrival, arrival.isAccepted, arrival.text != text {
                    throw StartError("\(device.id) got another text than /explain says")
                }
                let isDelivered = delivery["state"]?.text == "delivered" && arrival?.isAccepted != false
                if isDelivered { delivered.insert(device.id) }
                let shown = arrival.map { "\($0.status.map(String.init) ?? "no answer")  \($0.reason ?? text)" } ?? text
                show(delivery, on: device, isDelivered, shown)
            }
            if !isConcerned { show(explanation, about: person) }
        }
        showTraces(of: id)
        stage.remark("GET /events/\(id): \(state["recipients"]?.serializedText ?? "")")
        let expected = Set(devices.filter { notified.contains($0.owner) && $0.id != lost }.map(\.id))
        guard delivered == expected else {
            throw StartError("expected \(expected.sorted()) to be notified, but it was \(delivered.sorted())")
        }
    }

    /// The only notification that a push service got for a device.
    private func arrival(_ token: String, of device: DemoDevice, since seen: Int) throws -> ReceivedNotification {
        let sent = simulator?.received.notifications.dropFirst(seen).filter { $0.deviceToken == token } ?? []
        guard let first = sent.first, sent.count == 1 else {
            throw StartError("\(device.id) should have been sent one notification, but it was \(sent.count)")
        }
        return first
    }

    private func show(_ delivery: JSONValue, on device: DemoDevice, _ isDelivered: Bool, _ text: String) {
        let state = (delivery["state"]?.text ?? "unknown").padded(to: 12)
        let outcome = stage.terminal.styled(state, isDelivered ? .green : .red)
        let reason = isDelivered || device.token != nil ? "" : delivery["reason"]?.text.map { " (\($0))" } ?? ""
        let owner = device.owner.capitalized.padded(to: 6)
        stage.terminal.line("  \(owner) \(outcome) \(device.name.padded(to: 8)) \(text)\(reason)")
    }

    /// Why somebody gets nothing.
    private func show(_ explanation: JSONValue, about person: String) {
        let level = explanation["decidedBy"]?.text ?? "nobody"
        let reason = explanation["reason"]?.text.map { " (\($0))" } ?? ""
        let words = ["actor": "did it", "notMember": "is not concerned", "noDevice": "has no device"]
        let verdict = stage.terminal.styled("nothing".padded(to: 12), .yellow)
        let name = person.capitalized.padded(to: 6)
        stage.terminal.line("  \(name) \(verdict) \(words[level] ?? "suppressed by \(level)\(reason)")")
    }

    /// What the log provider wrote about an event, and what came to Dave's server.
    private func showTraces(of event: String) {
        let log = logFile.flatMap { try? String(contentsOfFile: $0, encoding: .utf8) } ?? ""
        for line in log.split(separator: "\n") where line.contains("\"\(event)\"") {
            stage.remark("on standard output: \(line)")
        }
        for webhook in server.bodies(at: .device) where webhook["data"]?["eventId"]?.text == event {
            let title = webhook["data"]?["title"]?.text ?? ""
            let body = webhook["data"]?["body"]?.text ?? ""
            stage.remark("at Dave's server, with a signature that is right: \(title) | \(body)")
        }
    }
}

// MARK: - Tags, silence and endpoints

extension DemoScript {
    private func playTag(_ devices: [DemoDevice], _ simulator: Simulator) async throws {
        stage.step("A tag: Bob subscribes to offers, and only he hears of them.")
        try await network.put("/tags/offers", ["selfService": true])
        try await network.asApp(of: "bob", .put, "/tags/offers/users/me")
        let offer: JSONValue = ["to": ["tags": ["offers"]], "title": "Half price", "body": "Until noon"]
        try await notify(offer, devices, simulator, expecting: ["bob": "Half price | Until noon"])
    }

    private func playSilence(_ devices: [DemoDevice], _ simulator: Simulator) async throws {
        stage.step("A silent push wakes every app; nothing is shown but a number on Bob's icon.")
        let silent: JSONValue = [
            "to": ["everyone": true], "kind": "silent", "data": ["sync": true],
            "apns": ["payload": ["aps": ["badge": 3]]],
        ]
        let expected = ["bob": Self.nothingShown, "carol": Self.nothingShown]
        let arrived = try await notify(silent, devices, simulator, expecting: expected)
        let payload = arrived["bob"].flatMap { try? JSONValue(parsing: $0.payload) }
        let badge = payload?["aps"]
        stage.terminal.line("  Bob's iPhone was told: \(badge?.serializedText ?? "")")
        guard badge == ["content-available": 1, "badge": 3] else {
            throw StartError("the silent push is not as written")
        }
    }

    /// Sends a direct notification and shows what arrived at push services: the words that each owner of a handset is to see.
    @discardableResult
    private func notify(
        _ notification: JSONValue,
        _ devices: [DemoDevice],
        _ simulator: Simulator,
        expecting expected: [String: String]
    ) async throws -> [String: ReceivedNotification] {
        let seen = simulator.received.total
        try await network.notify(notification)
        var arrived: [String: ReceivedNotification] = [:]
        for device in devices where device.token != nil {
            let sent = simulator.received.notifications.dropFirst(seen).last { $0.deviceToken == device.token }
            arrived[device.owner] = sent
            let text = sent.map { $0.title == nil && $0.body == nil ? Self.nothingShown : $0.text }
            stage.terminal.line("  \(device.owner.capitalized.padded(to: 6)) \(text ?? "nothing")")
            guard text == expected[device.owner] else {
                throw StartError(
                    "\(device.owner) got \(text ?? "nothing"), not \(expected[device.owner] ?? "nothing")"
                )
            }
        }
        return arrived
    }

    private func playInterception(_ simulator: Simulator) async throws {
        stage.step("An endpoint is asked about each message before it goes out: it rewrites one, and stops another.")
        try await makeEndpoint(.intercept, ["events": ["message.sent"], "timeoutMs": 5_000])
        for (words, expected) in [
            ("Where is the darn key?", "Where is the d*** key?"), ("Buy spam now", nil), ("Found it", "Found it"),
        ] {
            let seen = simulator.received.total
            let (_, state) = try await network.post(DemoEvent.messageSent(words).json())
            let bodies = Set(simulator.received.notifications.dropFirst(seen).map { $0.body ?? "" })
            stage.terminal.line("  \(words) → \(bodies.first ?? "nobody is notified")")
            stage.remark("\(state["interception"]?.serializedText ?? "")")
            guard bodies == Set([expected].compactMap(\.self)) else {
                throw StartError("expected \(expected ?? "nothing"), but it was \(bodies.sorted())")
            }
        }
    }

    private func playObservation(since made: ContinuousClock.Instant) async throws {
        stage.step("The other endpoint is told of every event, from ten seconds after it was made.")
        try await Task.sleep(until: made + Self.begin, clock: .continuous)
        let event = DemoEvent.messageSent("This is for the archive, too").json()
        _ = try await network.post(event)
        let told = try await DemoStage.waitFor("the endpoint's copy of the message") {
            server.bodies(at: .observe).first { $0["id"] == event["id"] }
        }
        stage.terminal.line("  as it was posted, signed: \(told["data"]?["message"]?.serializedText ?? "")")
        stage.remark("with \(told["carillon"]?.serializedText ?? "")")
    }
}

extension ReceivedNotification {
    fileprivate var text: String { "\(title ?? "") | \(body ?? "")" }
}
