import CarillonCore
import NIOCore
import NIOPosix

/// A network that does nothing wrong, and whose people want their notifications in time.
struct Innocent: Sendable {
    /// How the network lives.
    struct Plan: Sendable {
        /// How many channels there are; messages go to one after the other. Each has one recipient, with a device for log
        /// lines and one for webhooks.
        var channels = 20
        /// The path of its webhooks, which says how ``WebhookHosts`` answers.
        var path = "prompt"
        /// The host of a channel's webhook.
        var host: @Sendable (_ channel: Int) -> String = { _ in "127.0.0.1" }
    }

    /// How many events it posts.
    static let eventsPerSecond = 20.0
    /// How long its events may take before they count as not delivered.
    static let patience = Duration.seconds(40)
    /// What its devices' ids begin with.
    static let prefix = "innocent"
    /// Those of its requests and webhooks: what a neighbour's load keeps busy in this process must not count as waiting.
    static let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private static let requestLimit = TimeAmount.seconds(15)
    /// One for log lines, one for webhooks.
    private static let devicesPerUser = 2

    private let network: TestNetwork
    private let plan: Plan
    private let port: Int
    private let clients: [HTTPClient]
    private let arrivals: ArrivalLog

    /// Makes the network.
    static func move(into scene: Scene, _ plan: Plan, _ arrivals: ArrivalLog) async throws -> Innocent {
        let network = try await scene.makeNetwork(prefix)
        var lines = ""
        for channel in 0..<plan.channels {
            let user = "\(prefix)-\(channel)"
            let url = "http://\(plan.host(channel)):\(scene.webhookPort)/\(plan.path)"
            lines += #"{"user":{"id":"\#(user)"}}"# + "\n" + #"{"channel":{"id":"c-\#(channel)"}}"# + "\n"
            lines += #"{"member":{"channelId":"c-\#(channel)","userId":"\#(user)"}}"# + "\n"
            lines += #"{"device":{"id":"\#(user)-log","userId":"\#(user)","provider":"log"}}"# + "\n"
            lines +=
                #"{"device":{"id":"\#(user)-hook","userId":"\#(user)","provider":"webhook","url":"\#(url)"}}"# + "\n"
        }
        _ = try await network.importing(Array(lines.utf8), in: scene.service).expecting(200)
        return Innocent(
            network: network,
            plan: plan,
            port: scene.service.port,
            clients: (0..<8).map { _ in
                HTTPClient(port: scene.service.port, bearer: network.apiKey, group: eventLoops)
            },
            arrivals: arrivals
        )
    }

    /// Posts events whose ids begin with `run` at a steady rate, whatever the answers do, and waits for what was accepted.
    func probe(_ run: String, for duration: Duration) async throws -> Probe {
        let count = max(1, Int(duration / .seconds(1) * Self.eventsPerSecond))
        var probe = Probe()
        var accepted: [String: NIODeadline] = [:]
        let start = ContinuousClock.now
        let answers = await withTaskGroup(of: Result<Accepted, any Error>.self) { group in
            for number in 0..<count {
                try? await Task.sleep(until: start + .seconds(Double(number) / Self.eventsPerSecond))
                group.addTask { await post("\(run)-\(number)", number: number) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for answer in answers {
            switch answer {
            case .success(let event):
                accepted[event.id] = event.at
                probe.accepting.append(event.milliseconds)
            case .failure(let error):
                probe.failures.append("\(error)")
            }
        }
        let deadline = ContinuousClock.now + Self.patience
        while !accepted.isEmpty, ContinuousClock.now < deadline {
            for (id, acceptedAt) in accepted {
                guard let at = arrivals.completion(of: id, notifications: Self.devicesPerUser) else { continue }
                probe.delivery.append(max(0, Double((at - acceptedAt).nanoseconds) / 1e6))
                accepted[id] = nil
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        probe.missing = accepted.count
        for _ in accepted { probe.delivery.append(Self.patience / .milliseconds(1)) }
        return probe
    }

    /// An event that was taken.
    private struct Accepted: Sendable {
        let id: String
        let at: NIODeadline
        let milliseconds: Double
    }

    /// Every second request opens a connection, as people do who come for the first time.
    private func post(_ id: String, number: Int) async -> Result<Accepted, any Error> {
        let start = NIODeadline.now()
        let isNew = number.isMultiple(of: 2)
        let client =
            isNew
            ? HTTPClient(port: port, bearer: network.apiKey, group: Self.eventLoops)
            : clients[number / 2 % clients.count]
        let answer: Result<Accepted, any Error>
        do {
            let body = Array(json(id: id, channel: number % plan.channels).utf8)
            let request = HTTPRequest.json("POST", "\(network.path)/events", body)
            let taken = try await client.send(request, limit: Self.requestLimit).expecting(202)
            guard case .object(let members) = try taken.json, case .string(let event)? = members["id"] else {
                throw UnexpectedAnswer(taken)
            }
            let milliseconds = Double((taken.arrivedAt - start).nanoseconds) / 1e6
            answer = .success(Accepted(id: event, at: taken.arrivedAt, milliseconds: milliseconds))
        } catch {
            answer = .failure(error)
        }
        if isNew { await client.close() }
        return answer
    }

    private func json(id: String, channel: Int) -> String {
        #"{"id":"\#(id)","type":"message.sent","data":{"channel":{"id":"c-\#(channel)"},"user":{"id":"sender"},"#
            + #""message":{"id":"m-\#(id)","type":"text","text":"Hello"}}}"#
    }
}
