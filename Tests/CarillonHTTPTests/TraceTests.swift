import CarillonCore
import CarillonTesting
import HTTPTypes
import HummingbirdTesting
import Logging
import NIOCore
import Testing

/// Requests that are part of a trace (W3C Trace Context, API section 8).
@Suite(.acme) struct TraceTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }
    private static let id = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let header = "00-\(id)-00f067aa0ba902b7-01"

    private func shown(_ answer: Answer) async throws -> Answer {
        #expect(answer.status == 202)
        let id = try #require(answer.string("eventId") ?? answer.string("id"))
        let event = try await network.call(.get, "events/\(id)")
        #expect(event.status == 200)
        return event
    }

    @Test(arguments: [
        ("events", EventTests.message), ("notifications", #"{"to":{"userIds":["bob"]},"title":"x"}"#),
        ("events/cloudevents", Self.cloudEvent),
    ])
    func `what is posted in a traced request shows its trace`(path: String, body: String) async throws {
        let answer = try await network.call(.post, path, body, headers: ["traceparent": Self.header])
        #expect(try await shown(answer).string("traceId") == Self.id)
        let list = try await network.call(.get, "events")
        #expect(list["items", "0", "traceId"] == .string(Self.id))
    }

    @Test(arguments: [
        "", "00", header.uppercased(), "ff" + header.dropFirst(2), "00-\(id)-0000000000000000-01", "\(header)-",
    ])
    func `a header that names no trace is ignored`(header: String) async throws {
        let answer = try await network.call(.post, "events", EventTests.message, headers: ["traceparent": header])
        #expect(try await shown(answer)["traceId"] == nil)
    }

    @Test func `of two headers neither counts, and without one there is no trace`() async throws {
        for count in [2, 0] {
            var headers: HTTPFields = [.authorization: "Bearer \(network.adminKey)", .contentType: "application/json"]
            let name = try #require(HTTPField.Name("traceparent"))
            for _ in 0..<count { headers.append(HTTPField(name: name, value: Self.header)) }
            let body = EventTests.message.replacing("evt-1", with: "evt-\(count)")
            let response = try await api.client.execute(
                uri: network.path("events"),
                method: .post,
                headers: headers,
                body: ByteBuffer(string: body)
            )
            #expect(try await shown(Answer(response))["traceId"] == nil)
        }
    }

    private static let cloudEvent =
        #"{"specversion":"1.0","id":"1","source":"/s","type":"channel.deleted","data":{"channel":{"id":"c"}}}"#

    @Test func `a CloudEvent's own trace goes before that of the request that brought it`() async throws {
        let own = "0af7651916cd43dd8448eb211c80319c"
        let traced = Self.cloudEvent.replacing(
            #""id":"1""#,
            with: #""id":"2","extensions":{"traceparent":"00-\#(own)-00f067aa0ba902b7-01"}"#
        )
        let answer = try await network.call(
            .post,
            "events/cloudevents",
            "[\(traced),\(Self.cloudEvent)]",
            type: "application/cloudevents-batch+json",
            headers: ["traceparent": Self.header]
        )
        #expect(answer.status == 202)
        for (index, trace) in [own, Self.id].enumerated() {
            guard case .string(let id)? = answer["results", "\(index)", "eventId"] else {
                Issue.record("no id of event \(index)")
                continue
            }
            let event = try await network.call(.get, "events/\(id)")
            #expect(event.string("traceId") == trace)
        }
    }

    @Test func `lines of the log about a request carry its trace`() async throws {
        let log = CollectedLog()
        try await withAPI(logger: log.logger(from: .debug)) { api in
            let network = try await api.makeNetwork()
            for headers in [["traceparent": Self.header], ["traceparent": "00-0"]] {
                for body in [EventTests.message, "{"] {
                    let path = network.path("events")
                    _ = try await network.call(.post, path, body, headers: headers)
                }
            }
            let lines = log.lines("Request answered").filter { $0["http.route"]?.hasSuffix("/events") == true }
            #expect(lines.map { $0["trace.id"] } == [Self.id, Self.id, nil, nil])
            #expect(lines.map { $0["http.status"] } == ["202", "400", "202", "400"])
        }
    }
}
