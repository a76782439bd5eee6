import CarillonCore
import CarillonWebhooks
import Foundation
import Logging
import Testing

@testable import carillon_benchmarks

/// What benchmarks tell by: not what they measure.
@Suite struct RigTests {
    @Test func `commits of pgbench are read from what it says`() throws {
        let said = """
            transaction type: insert.sql
            number of clients: 32
            number of transactions actually processed: 41234
            number of failed transactions: 0 (0.000%)
            latency average = 1.551 ms
            initial connection time = 41.500 ms
            tps = 20617.250000 (without initial connection time)

            """
        let (count, rate) = try PostgresTools.transactions(in: said)
        #expect(count == 41_234)
        #expect(rate == 20_617.25)
        #expect(throws: BenchmarkFailure.self) { try PostgresTools.transactions(in: "pgbench: error") }
    }

    @Test func `a program that has ended leaves its processor time`() async throws {
        let before = ProcessStatus.own.processorSecondsOfEndedChildren
        _ = try await Tool.output(of: "sh", ["-c", "i=0; while [ $i -lt 500000 ]; do i=$((i+1)); done"])
        #expect(ProcessStatus.own.processorSecondsOfEndedChildren > before)
    }

    @Test func `another build brings what its checkout has`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "builds-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let build = folder.appending(path: "checkout/.build/release")
        try FileManager.default.createDirectory(at: build, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(
            at: folder.appending(path: "checkout/Migrations"),
            withIntermediateDirectories: false
        )
        for path in ["checkout/.build/release/carillon", "carillon"] {
            try Data("#!/bin/sh\n".utf8).write(to: folder.appending(path: path))
            let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o755]
            try FileManager.default.setAttributes(mode, ofItemAtPath: folder.appending(path: path).path)
        }
        let workshop = Workshop(program: "first", resources: "own", directory: "t", logger: Logger(label: "test"))
        let other = try workshop.with(program: build.appending(path: "carillon").path)
        #expect(other.program.hasSuffix("checkout/.build/release/carillon"))
        #expect(other.resources.hasSuffix("/checkout"))
        #expect(other.directory == "t")
        #expect(try workshop.with(program: folder.appending(path: "carillon").path).resources == "own")
        #expect(throws: BenchmarkFailure.self) { try workshop.with(program: folder.path + "/nothing") }
    }

    @Test(arguments: [1, 50])
    func `a request has as many events as it is asked for, and its signature is of all of them`(count: Int) throws {
        let secret = WebhookSecret.generate()
        let network = TestNetwork(path: "/v1/networks/n", apiKey: "key", secret: secret)
        let shape = DirectoryLines(userCount: 10, channelCount: 2, membersPerChannel: 5)
        var source = SignedEvents(to: network, in: shape, perRequest: count, run: "run")
        for round in 1...2 {
            let request = source.next()
            let headers = Dictionary(uniqueKeysWithValues: request.headers.map { ($0.name, $0.value) })
            try Webhook(secret.signing).verify(
                request.body,
                id: headers["webhook-id"],
                timestamp: headers["webhook-timestamp"],
                signature: headers["webhook-signature"]
            )
            #expect(source.count == round * count)
            let body = try JSONValue(parsing: request.body)
            let events: [JSONValue] = if case .array(let events) = body { events } else { [body] }
            let numbers = (round - 1) * count + 1...round * count
            #expect(events.map(Self.id) == numbers.map { .string("run-\($0)") })
        }
    }

    private static func id(of event: JSONValue) -> JSONValue? {
        if case .object(let members) = event { members["id"] } else { nil }
    }

    @Test func `a report has missed its goals when one of them is missed`() {
        var report = Report(benchmark: "b")
        report.figures = [Figure("a", 2, goal: .atMost(2)), Figure("b", 9)]
        #expect(!report.hasMissedGoals)
        report.figures.append(Figure("c", 2.1, goal: .atMost(2)))
        #expect(report.hasMissedGoals)
    }

    @Test func `a figure under another name keeps its range and its goal`() {
        let figure = Figure("a", Series([3, 1, 2]), "ms", goal: .below(2)).named("b")
        #expect(figure.name == "b")
        #expect(figure.value == 2)
        #expect(figure.range == 1...3)
        #expect(figure.isMet == false)
    }
}
