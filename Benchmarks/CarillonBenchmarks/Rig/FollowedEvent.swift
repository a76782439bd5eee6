import CarillonCore
import NIOCore

/// Posts events one by one and asks what became of the last one.
struct FollowedEvent: Sendable {
    /// How far an event is.
    struct Status: Sendable {
        /// Whether every device has its final state.
        let isDone: Bool
        /// How many devices were notified.
        let delivered: Int
    }

    private var events: SignedEvents
    private let client: HTTPClient
    private let network: TestNetwork
    private(set) var id = ""

    init(events: SignedEvents, client: HTTPClient, network: TestNetwork) {
        self.events = events
        self.client = client
        self.network = network
    }

    /// Posts the next event.
    /// - Returns: When its 202 arrived.
    mutating func post() async throws -> NIODeadline { try await post(events.next()) }

    /// Posts a direct notification.
    /// - Returns: When its 202 arrived.
    mutating func post(_ notification: JSONValue) async throws -> NIODeadline {
        let headers = [("content-type", "application/json"), ("authorization", "Bearer \(network.apiKey)")]
        let path = network.path + "/notifications"
        return try await post(HTTPRequest(method: "POST", path: path, headers: headers, body: notification.serialized))
    }

    private mutating func post(_ request: HTTPRequest) async throws -> NIODeadline {
        let answer = try await client.send(request).expecting(202)
        guard case .object(let members) = try answer.json, case .string(let id)? = members["id"],
            members["status"] == "accepted"
        else { throw UnexpectedAnswer(answer) }
        self.id = id
        return answer.arrivedAt
    }

    /// Asks for the event that was posted last.
    /// - Returns: How far it is, and when the answer arrived.
    func status() async throws -> (Status, at: NIODeadline) {
        let headers = [(name: "authorization", value: "Bearer \(network.apiKey)")]
        let request = HTTPRequest(path: "\(network.path)/events/\(id)", headers: headers)
        let answer = try await client.send(request).expecting(200)
        guard case .object(let members) = try answer.json, case .object(let deliveries)? = members["deliveries"],
            case .number(let delivered)? = deliveries["delivered"]
        else { throw UnexpectedAnswer(answer) }
        return (Status(isDone: members["state"] == "done", delivered: delivered.integer ?? 0), answer.arrivedAt)
    }

    /// Asks for the event that was posted last until it is done.
    /// - Returns: When the answer arrived that it is.
    /// - Throws: ``BenchmarkFailure`` when it takes too long, or another number of devices was notified.
    func done(after start: NIODeadline, notifying devices: Int) async throws -> NIODeadline {
        let limit = Duration.seconds(300)
        while NIODeadline.now() < start + TimeAmount(limit) {
            let (status, at) = try await status()
            if status.isDone {
                guard status.delivered == devices else {
                    throw BenchmarkFailure("\(status.delivered) of \(devices) devices were notified")
                }
                return at
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw BenchmarkFailure("an event is not done after \(limit)")
    }
}
