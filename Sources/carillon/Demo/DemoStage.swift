import CarillonCore
import CarillonWebhooks
import NIOHTTP1
import PushHTTP

/// What every act does: it talks to the service, waits, and tells who watches.
struct DemoStage: Sendable {
    private static let patience = Duration.seconds(20)

    let client: DemoClient
    let terminal: Terminal

    static func newID(_ event: DemoEvent) -> String { "\(event.type)-\(UInt32.random(in: .min ... .max))" }

    /// Says which part of the story begins.
    func act(_ text: String) {
        terminal.line()
        terminal.line(terminal.styled(text, .cyan))
    }

    func step(_ text: String) {
        terminal.line()
        terminal.line(terminal.styled(text, .bold))
    }

    func remark(_ text: String) {
        terminal.line("  " + terminal.styled(text, .dim))
    }

    /// Calls `body` with a network of its own, which is removed afterwards.
    /// - Throws: What `body` throws, and why the network could not be made or removed.
    func withNetwork(_ text: String, _ body: (DemoClient.Network) async throws -> Void) async throws {
        step(text)
        let network = try await makeNetwork()
        do {
            try await body(network)
        } catch {
            _ = try? await removeNetwork(network)
            throw error
        }
        try await removeNetwork(network)
    }

    /// Replaces a document, or says why that is not possible.
    /// - Throws: When it is not accepted.
    @discardableResult
    func put(
        _ network: DemoClient.Network,
        _ path: String,
        _ body: JSONValue,
        shown: JSONValue? = nil
    ) async throws -> DemoClient.Answer {
        let answer = try await client.asAdmin(of: network, .put, path, body, shown: shown)
        guard answer.status == 200 || answer.status == 201 else { throw unexpected(answer, "200 or 201") }
        return answer
    }

    /// Has its owner's app register a handset.
    func register(_ handset: DemoHandset, _ network: DemoClient.Network) async throws {
        try await client.asApp(of: handset.owner, in: network, .put, "/devices/\(handset.id)", handset.registration)
    }

    /// Posts an event, and answers its id and its state when it is done.
    func finish(
        _ event: JSONValue,
        _ id: String,
        in network: DemoClient.Network
    ) async throws -> (id: String, state: DemoClient.Answer) {
        let accepted = try await client.post(event, id: id, to: network)
        guard accepted.status == 202, let id = accepted["id"]?.text else { throw unexpected(accepted, "a 202") }
        return (id, try await state(of: id, in: network))
    }

    /// What became of an event when it is done.
    func state(of id: String, in network: DemoClient.Network) async throws -> DemoClient.Answer {
        let state = try await waitFor {
            let answer = try await client.asAdmin(of: network, .get, "/events/\(id)", isShown: false)
            return answer["state"]?.text == "done" ? answer : nil
        }
        guard let state else { throw StartError("the event was not done in time") }
        return state
    }

    func deliveries(of event: String, in network: DemoClient.Network) async throws -> [JSONValue] {
        let answer = try await client.asAdmin(of: network, .get, "/events/\(event)/deliveries", isShown: false)
        return answer["items"]?.elements ?? []
    }

    /// What becomes of an event for a user, and why.
    func explain(_ event: JSONValue, for user: String, in network: DemoClient.Network) async throws -> JSONValue {
        let question: JSONValue = ["event": event, "userId": .string(user)]
        return try await client.asAdmin(of: network, .post, "/explain", question, isShown: false).body
    }

    func unexpected(_ answer: DemoClient.Answer, _ expectation: String) -> StartError {
        StartError("expected \(expectation), got \(answer.status): \(answer.body["detail"]?.text ?? "")")
    }

    /// What `value` answers as soon as it answers something; `nil` when that takes too long.
    func waitFor<Value: Sendable>(_ value: () async throws -> Value?) async throws -> Value? {
        let start = ContinuousClock.now
        while ContinuousClock.now - start < Self.patience {
            if let value = try await value() { return value }
            try await Task.sleep(for: .milliseconds(20))
        }
        return nil
    }

    private func makeNetwork() async throws -> DemoClient.Network {
        let id = "demo-" + String(UInt32.random(in: .min ... .max), radix: 36)
        let answer = try await client.asOperator(.post, "/v1/networks", ["id": .string(id), "displayName": "Demo"])
        guard answer.status == 201, let key = answer["apiKey"]?.text,
            let secret = answer["webhookSecret"]?.text.flatMap(SigningSecret.init),
            let tokenSecret = answer["userTokenSecret"]?.text
        else { throw unexpected(answer, "a network") }
        terminal.line(
            "  201: an admin key, the secret that signs events and the one that signs users in, shown this once"
        )
        return DemoClient.Network(
            id: id,
            apiKey: key,
            webhookSecret: secret,
            userTokenSecret: Secret(tokenSecret)
        )
    }

    private func removeNetwork(_ network: DemoClient.Network) async throws {
        step("The network is removed, with everything in it.")
        let answer = try await client.asOperator(.delete, "/v1/networks/\(network.id)")
        guard answer.status == 204 else { throw unexpected(answer, "the network to go") }
    }
}
