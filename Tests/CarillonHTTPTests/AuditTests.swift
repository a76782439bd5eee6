import CarillonCore
import HTTPTypes
import HummingbirdTesting
import Logging
import Synchronization
import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

/// Who changed what, and who was refused, stands in the log.
@Suite struct AuditTests {
    @Test func `a change of a network's set-up names the key, and no secret`() async throws {
        let log = CollectedLog()
        try await withAPI(logger: log.logger) { api in
            let network = try await api.makeNetwork()
            let key = try await api.makeKey("events", in: network)
            let id = try #require(network.adminKey.split(separator: "_").dropFirst().first)
            let lines = log.lines("An admin made a change")
            #expect(lines.count == 2)
            #expect(lines.first?["admin"] == "operator")
            #expect(lines.last?["admin"] == "key \(id)")
            #expect(lines.last?["http.route"] == "/v1/networks/{network}/api-keys")
            #expect(lines.last?["network"] == "acme")
            let text = log.text
            for secret in [network.adminKey, network.webhookSecret, network.userTokenSecret, key] {
                #expect(!text.contains(secret))
            }
            _ = try await api.call(.put, network.path("users/alice"), "{}", as: network.adminKey)
            _ = try await api.call(.get, network.path("api-keys"), as: network.adminKey)
            _ = try await api.call(.post, network.path("events"), #"{"id":"1","type":"x"}"#, as: network.adminKey)
            _ = try await api.call(.put, network.path("tags/beta/users/alice"), as: network.adminKey)
            #expect(log.lines("An admin made a change").count == 2, "data comes and goes all day")
            _ = try await api.call(.put, network.path("tags/beta"), "{}", as: network.adminKey)
            #expect(log.lines("An admin made a change").last?["http.route"] == "/v1/networks/{network}/tags/{tag}")
        }
    }

    @Test func `a refusal is written with the address it came from, and a flood of them is counted`() async throws {
        let log = CollectedLog()
        try await withAPI(.live, logger: log.logger) { api in
            let network = try await api.makeNetwork()
            let events = try await api.makeKey("events", in: network)
            _ = try await api.call(.get, network.path("api-keys"), as: "ck_wrong")
            _ = try await api.call(.get, network.path("api-keys"), as: events)
            let lines = log.lines("A caller was refused")
            #expect(lines.map { $0["http.status"] } == ["401", "403"])
            #expect(lines.allSatisfy { $0["client.address"] == "127.0.0.1" })
            for _ in 0..<200 { _ = try await api.call(.get, network.path("api-keys"), as: "ck_wrong") }
            #expect(log.lines("A caller was refused").count < 200)
        }
    }

    @Test func `so many lines go through in a while, and those beyond are counted`() {
        let time = Mutex(ContinuousClock.now)
        let allowance = LineAllowance(lines: 2) { time.withLock(\.self) }
        let verdicts = (0..<5).map { _ in allowance.take() }
        #expect(verdicts == [.write, .write, .omitFirst, .omit, .omit])
        #expect(allowance.takeOmitted() == 3)
        #expect(allowance.takeOmitted() == 0)
        #expect(allowance.take() == .omitFirst, "each number that is taken is followed by another")
        time.withLock { $0 += LineAllowance.window }
        #expect(allowance.take() == .write)
    }
}

/// Keeps what is logged.
private final class CollectedLog: Sendable {
    private let entries = Mutex<[(message: String, metadata: [String: String])]>([])

    var logger: Logger {
        var logger = Logger(label: "test") { _ in Handler(collected: self) }
        logger.logLevel = .notice
        return logger
    }

    var text: String { entries.withLock { $0.map { "\($0.message) \($0.metadata)" }.joined(separator: "\n") } }

    func lines(_ message: String) -> [[String: String]] {
        entries.withLock { $0.filter { $0.message == message }.map(\.metadata) }
    }

    private struct Handler: LogHandler {
        let collected: CollectedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.notice

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
            collected.entries.withLock { $0.append((event.message.description, all.mapValues { "\($0)" })) }
        }
    }
}
