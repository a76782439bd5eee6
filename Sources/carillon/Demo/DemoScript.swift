import CarillonCore
import CarillonWebhooks
import NIOHTTP1
import PushHTTP

/// The first act: a network, four people and their devices, three events, three toggles.
struct DemoScript: Sendable {
    let stage: DemoStage
    let logLines: DemoLogLines?
    private let receiver = DemoReceiver()

    /// Plays it from the beginning to the end, and removes what it made.
    /// - Throws: When something does not come out as told.
    func play() async throws {
        stage.act("Act one: three events in, the right notifications out, each toggle once.")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await receiver.run() }
            defer { group.cancelAll() }
            let text = "A network is one tenant: it has its own users, channels, keys and switches."
            try await stage.withNetwork(text) { network in
                let cast = try await registerDevices(network)
                try await playEvents(network, cast)
                try await playToggles(network, cast)
            }
        }
    }

    /// Bob and Carol have a device of the `log` provider; Dave's is a webhook to this machine.
    private func registerDevices(_ network: DemoClient.Network) async throws -> [DemoPerson] {
        stage.step("Devices: Bob reads English, Carol Thai; Dave's notifications go to a webhook.")
        let answer = try await stage.client.asAdmin(of: network, .post, "/providers/webhook/secret")
        guard answer.status == 201, let secret = answer["secret"]?.text.flatMap(SigningSecret.init) else {
            throw stage.unexpected(answer, "a secret for webhooks")
        }
        receiver.expect(secret)
        try await stage.put(network, "/devices/bob-phone", ["userId": "bob", "provider": "log", "locale": "en"])
        try await stage.put(network, "/devices/carol-phone", ["userId": "carol", "provider": "log", "locale": "th-TH"])
        guard let url = try await stage.waitFor({ receiver.url }) else {
            throw StartError("the webhook receiver did not start")
        }
        let server: JSONValue = ["userId": "dave", "provider": "webhook", "url": .string(url)]
        let registered = try await stage.client.asAdmin(of: network, .put, "/devices/dave-server", server)
        if registered.status == 400 {
            throw StartError(
                """
                this service may not send to 127.0.0.1, where the demo takes webhooks: \
                start it with \(Setting.egressAllow.variable)=127.0.0.0/8, or play the demo without --url
                """
            )
        }
        guard registered.status == 201 else { throw stage.unexpected(registered, "201") }
        return ["alice", "bob", "carol", "dave", "erin"].map(DemoPerson.init)
    }
}

// MARK: - Events and toggles

extension DemoScript {
    private func playEvents(_ network: DemoClient.Network, _ cast: [DemoPerson]) async throws {
        stage.step("channel.created: Alice opens a channel with Bob, Carol and Dave.")
        try await play(.channelCreated, in: network, cast, expecting: ["bob", "carol", "dave"])
        stage.step("member.joined: Erin joins, and those who were there hear of it.")
        try await play(.memberJoined("erin"), in: network, cast, expecting: ["bob", "carol", "dave"])
        stage.step("message.sent: Alice writes; Erin is concerned too, but has no device.")
        try await play(.messageSent("Hello everybody"), in: network, cast, expecting: ["bob", "carol", "dave"])
    }

    private func playToggles(_ network: DemoClient.Network, _ cast: [DemoPerson]) async throws {
        stage.step("The network's toggle: no notifications when somebody joins.")
        try await stage.put(network, "/notifications", ["events": ["member.joined": ["enabled": false]]])
        try await play(.memberJoined("frank"), in: network, cast, expecting: [])
        stage.step("A user's toggle: Bob wants nothing at all.")
        try await stage.client.asApp(of: "bob", in: network, .patch, "/users/me/notifications", ["enabled": false])
        try await play(.messageSent("Is Bob there?"), in: network, cast, expecting: ["carol", "dave"])
        stage.step("A channel's toggle: Carol mutes this channel, unless she is mentioned.")
        let channel = "/users/me/channels/general/notifications"
        try await stage.client.asApp(of: "carol", in: network, .patch, channel, ["mentionsOnly": true])
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
        let sourceID = DemoStage.newID(event)
        let body = event.json(id: sourceID)
        let (id, state) = try await stage.finish(body, sourceID, in: network)
        let deliveries = try await stage.deliveries(of: id, in: network)
        var delivered: Set<String> = []
        for person in cast {
            let delivery = deliveries.first { $0["userId"]?.text == person.id }
            let explanation = try await stage.explain(body, for: person.id, in: network)
            stage.terminal.line("  " + person.line(delivery, explanation, on: stage.terminal))
            if delivery?["state"]?.text == "delivered" { delivered.insert(person.id) }
        }
        for line in logLines?.lines(about: id) ?? [] { stage.remark("on standard output: \(line)") }
        for webhook in receiver.bodies(about: id) {
            let title = webhook["data"]?["title"]?.text ?? ""
            let body = webhook["data"]?["body"]?.text ?? ""
            stage.remark("at Dave's server, with a signature that is right: \(title) | \(body)")
        }
        stage.remark("GET /events/\(id): \(state["recipients"]?.serializedText ?? "")")
        guard delivered == notified else {
            throw StartError("expected \(notified.sorted()) to be notified, but it was \(delivered.sorted())")
        }
    }
}
