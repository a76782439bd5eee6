import CarillonCore
import CarillonWebhooks
import NIOHTTP1
import PushHTTP

/// A service as its operator calls it, and the terminal of those who watch.
struct DemoStage: Sendable {
    private static let patience = Duration.seconds(20)
    private static let longestLine = 240

    let service: RunningService
    let operatorToken: Secret
    let terminal: Terminal

    func step(_ text: String) {
        terminal.line()
        terminal.line(terminal.styled(text, .bold))
    }

    func remark(_ text: String) {
        terminal.line("  " + terminal.styled(text, .dim))
    }

    /// Shows a call in short, so that it can be pasted where the variables that it names are set and nothing was cut off.
    func show(_ method: OutboundRequest.Method, _ path: String, _ headers: [String], _ body: JSONValue?) {
        var text = "curl -X \(method.rawValue) \(service.base)\(path)"
        for header in headers { text += " -H \"\(header)\"" }
        if let body { text += " -H 'content-type: application/json' -d '\(body.serializedText)'" }
        remark(text.count > Self.longestLine ? "\(text.prefix(Self.longestLine))…" : text)
    }

    /// Calls `body` with a network of its own, which is removed afterwards.
    /// - Throws: What `body` throws, and why the network could not be made or removed.
    func withNetwork(_ text: String, _ body: (DemoNetwork) async throws -> Void) async throws {
        step(text)
        let network = try await makeNetwork()
        do {
            try await body(network)
        } catch {
            _ = try? await remove(network)
            throw error
        }
        try await remove(network)
    }

    /// What `value` answers as soon as it answers something.
    /// - Throws: What `value` throws, and that it took too long.
    static func waitFor<Value: Sendable>(_ what: String, _ value: () async throws -> Value?) async throws -> Value {
        let start = ContinuousClock.now
        while ContinuousClock.now - start < patience {
            if let value = try await value() { return value }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw StartError("\(what) did not come in time")
    }

    private func makeNetwork() async throws -> DemoNetwork {
        let id = "demo-" + String(UInt32.random(in: .min ... .max), radix: 36)
        let answer = try await call(.post, "/v1/networks", ["id": .string(id), "displayName": "Demo"])
        guard answer.status == 201, let key = answer["apiKey"]?.text,
            let secret = answer["webhookSecret"]?.text.flatMap(SigningSecret.init),
            let tokenSecret = answer["userTokenSecret"]?.text
        else { throw answer.unexpected("a network") }
        terminal.line(
            "  201: an admin key, the secret that signs events and the one that signs users in, shown this once"
        )
        return DemoNetwork(
            stage: self,
            id: id,
            apiKey: key,
            webhookSecret: secret,
            userTokenSecret: Secret(tokenSecret)
        )
    }

    private func remove(_ network: DemoNetwork) async throws {
        step("The network is removed, with everything in it.")
        let answer = try await call(.delete, "/v1/networks/\(network.id)")
        guard answer.status == 204 else { throw answer.unexpected("the network to go") }
    }

    private func call(
        _ method: OutboundRequest.Method,
        _ path: String,
        _ body: JSONValue? = nil
    ) async throws -> RunningService.Answer {
        show(method, path, ["authorization: Bearer $OPERATOR_TOKEN"], body)
        let headers: HTTPHeaders = ["authorization": operatorToken.reveal { "Bearer \($0)" }]
        return try await service.call(method, path, headers, body?.serialized ?? [])
    }
}
