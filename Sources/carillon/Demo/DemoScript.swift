import CarillonCore
import Foundation
import NIOHTTP1

/// The story: a network, four people and their devices, three events, three toggles.
struct DemoScript: Sendable {
    private static let patience = Duration.seconds(20)

    private let client: DemoClient
    private let logLines: DemoLogLines?
    private let terminal: Terminal
    private let receiver = DemoReceiver()
    private let suffix = String(UInt32.random(in: .min ... .max), radix: 36)

    init(client: DemoClient, logLines: DemoLogLines?, terminal: Terminal) {
        self.client = client
        self.logLines = logLines
        self.terminal = terminal
    }

    /// Plays it from the beginning to the end, and removes what it made.
    /// - Throws: When something does not come out as told.
    func play() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await receiver.run() }
            defer { group.cancelAll() }
            let network = try await makeNetwork()
            do {
                let cast = try await registerDevices(network)
                try await playEvents(network, cast)
                try await playToggles(network, cast)
            } catch {
                _ = try? await removeNetwork(network)
                throw error
            }
            try await removeNetwork(network)
        }
        terminal.line()
        terminal.line(terminal.styled("Everything came out as it should.", .green))
    }
}

// MARK: - Setting the scene

extension DemoScript {
    private func makeNetwork() async throws -> DemoClient.Network {
        step("A network is one tenant: it has its own users, channels, keys and switches.")
        let id = "demo-\(suffix)"
        let answer = try await client.asOperator(.POST, "/v1/networks", ["id": .string(id), "displayName": "Demo"])
        guard answer.status == 201, let key = answer["apiKey"]?.text,
            let secret = answer["webhookSecret"]?.text.flatMap(WebhookSecret.init)
        else { throw unexpected(answer, "a network") }
        terminal.line("  201: an admin key and the secret that signs events, shown this once")
        return DemoClient.Network(id: id, apiKey: key, webhookSecret: secret)
    }

    /// Bob and Carol have a device of the `log` provider; Dave's is a webhook, where the service may reach this machine.
    private func registerDevices(_ network: DemoClient.Network) async throws -> [DemoPerson] {
        step("Devices: Bob reads English, Carol Thai; Dave's notifications go to a webhook.")
        let answer = try await client.asAdmin(of: network, .POST, "/providers/webhook/secret")
        guard answer.status == 201, let secret = answer["secret"]?.text.flatMap(WebhookSecret.init) else {
            throw unexpected(answer, "a secret for webhooks")
        }
        receiver.expect(secret)
        try await put(network, "/devices/bob-phone", ["userId": "bob", "provider": "log", "locale": "en"])
        try await put(network, "/devices/carol-phone", ["userId": "carol", "provider": "log", "locale": "th-TH"])
        guard let url = try await waitFor({ receiver.url }) else {
            throw StartError("the webhook receiver did not start")
        }
        let webhook: JSONValue = ["userId": "dave", "provider": "webhook", "url": .string(url)]
        let registered = try await client.asAdmin(of: network, .PUT, "/devices/dave-server", webhook)
        if registered.status == 400 {
            terminal.line("  This service may not reach 127.0.0.1 (CARILLON_EGRESS_ALLOW): Dave gets a log device.")
            try await put(network, "/devices/dave-server", ["userId": "dave", "provider": "log"])
        } else if registered.status != 201 {
            throw unexpected(registered, "a webhook device")
        }
        return ["alice", "bob", "carol", "dave", "erin"].map(DemoPerson.init)
    }

    private func removeNetwork(_ network: DemoClient.Network) async throws {
        step("The network is removed, with everything in it.")
        let answer = try await client.asOperator(.DELETE, "/v1/networks/\(network.id)")
        guard answer.status == 204 else { throw unexpected(answer, "the network to go") }
    }
}

// MARK: - Events and toggles

extension DemoScript {
    private func playEvents(_ network: DemoClient.Network, _ cast: [DemoPerson]) async throws {
        step("channel.created: Alice opens a channel with Bob, Carol and Dave.")
        try await play(.channelCreated, in: network, cast, expecting: ["bob", "carol", "dave"])
        step("member.joined: Erin joins, and those who were there hear of it.")
        try await play(.memberJoined("erin"), in: network, cast, expecting: ["bob", "carol", "dave"])
        step("message.sent: Alice writes; Erin is concerned too, but has no device.")
        try await play(.messageSent("Hello everybody"), in: network, cast, expecting: ["bob", "carol", "dave"])
    }

    private func playToggles(_ network: DemoClient.Network, _ cast: [DemoPerson]) async throws {
        step("The network's toggle: no notifications when somebody joins.")
        try await put(network, "/notifications", ["events": ["member.joined": ["enabled": false]]])
        try await play(.memberJoined("frank"), in: network, cast, expecting: [])
        step("A user's toggle: Bob wants nothing at all.")
        try await put(network, "/users/bob/notifications", ["enabled": false])
        try await play(.messageSent("Is Bob there?"), in: network, cast, expecting: ["carol", "dave"])
        step("A channel's toggle: Carol mutes this channel, unless she is mentioned.")
        try await put(network, "/users/carol/channels/general/notifications", ["mentionsOnly": true])
        try await play(.messageSent("Nobody in particular"), in: network, cast, expecting: ["dave"])
        try await play(.messageSent("Carol?", mentions: ["carol"]), in: network, cast, expecting: ["carol", "dave"])
    }

    /// Posts an event, waits until it is done, and shows what became of it for everybody.
    private func play(
        _ event: DemoEvent,
        in network: DemoClient.Network,
        _ cast: [DemoPerson],
        expecting notified: Set<String>
    ) async throws {
        let sourceID = "\(event.type)-\(UInt32.random(in: .min ... .max))"
        let body = event.json(id: sourceID)
        let accepted = try await client.post(body, id: sourceID, to: network)
        guard accepted.status == 202, let id = accepted["id"]?.text else { throw unexpected(accepted, "a 202") }
        let state = try await waitFor {
            let answer = try await client.asAdmin(of: network, .GET, "/events/\(id)", isShown: false)
            return answer["state"]?.text == "done" ? answer : nil
        }
        guard let state else { throw StartError("the event was not done in time") }
        let deliveries = try await client.asAdmin(of: network, .GET, "/events/\(id)/deliveries", isShown: false)
        var delivered: Set<String> = []
        for person in cast {
            let delivery = deliveries["items"]?.elements.first { $0["userId"]?.text == person.id }
            let question: JSONValue = ["event": body, "userId": .string(person.id)]
            let explanation = try await client.asAdmin(of: network, .POST, "/explain", question, isShown: false)
            terminal.line("  " + person.line(delivery, explanation.body, on: terminal))
            if delivery?["state"]?.text == "delivered" { delivered.insert(person.id) }
        }
        for line in logLines?.lines(about: id) ?? [] { remark("on standard output: \(line)") }
        for webhook in receiver.bodies(about: id) {
            let title = webhook["data"]?["title"]?.text ?? ""
            let body = webhook["data"]?["body"]?.text ?? ""
            remark("at Dave's server, with a signature that is right: \(title) | \(body)")
        }
        remark("GET /events/\(id): \(state["recipients"]?.serializedText ?? "")")
        guard delivered == notified else {
            throw StartError("expected \(notified.sorted()) to be notified, but it was \(delivered.sorted())")
        }
    }
}

// MARK: - Small steps

extension DemoScript {
    private func step(_ text: String) {
        terminal.line()
        terminal.line(terminal.styled(text, .bold))
    }

    private func remark(_ text: String) {
        terminal.line("  " + terminal.styled(text, .dim))
    }

    private func put(_ network: DemoClient.Network, _ path: String, _ body: JSONValue) async throws {
        let answer = try await client.asAdmin(of: network, .PUT, path, body)
        guard answer.status == 200 || answer.status == 201 else { throw unexpected(answer, "200 or 201") }
    }

    private func unexpected(_ answer: DemoClient.Answer, _ expectation: String) -> StartError {
        StartError("expected \(expectation), got \(answer.status): \(answer.body["detail"]?.text ?? "")")
    }

    /// What `value` answers as soon as it answers something; `nil` when that takes too long.
    private func waitFor<Value: Sendable>(_ value: () async throws -> Value?) async throws -> Value? {
        let start = ContinuousClock.now
        while ContinuousClock.now - start < Self.patience {
            if let value = try await value() { return value }
            try await Task.sleep(for: .milliseconds(20))
        }
        return nil
    }
}
