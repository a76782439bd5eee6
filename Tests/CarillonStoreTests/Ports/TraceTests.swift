@testable import CarillonCore
import CarillonTesting
import Testing

/// What store promises of traces: what an event is a part of stays with it, and with all that is sent for it.
@Suite(.stores) struct TraceTests {
    let scene = StoreScene.here

    private let trace = TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")

    private func traced(_ event: Event) -> Event {
        var event = event
        event.trace = trace
        return event
    }

    @Test func `an event and its deliveries are of its trace, from acceptance to a second life`() async throws {
        let first = scene.incoming(traced(.message("c", from: Person(id: "z"), id: "traced")))
        let second = scene.incoming(.message("c", from: Person(id: "z"), at: 1, id: "other"))
        let traces = [first.id: trace, second.id: nil]
        func expectShown() async throws {
            for (id, trace) in traces {
                #expect(try await scene.history.event(id, in: scene.network)?.trace == trace)
            }
        }
        _ = try await scene.inbox.accept([first, second])
        try await expectShown()
        let claimed = try await scene.inbox.claimEvents(limit: 9)
        #expect(claimed.map(\.event.trace) == [trace, nil])
        let target = try await scene.target("d", of: "a")
        let expansions = claimed.map { pending in
            var group = scene.group(pending, to: [target])
            group.cause.trace = pending.event.trace
            return Expansion(event: pending, groups: [group], next: nil)
        }
        #expect(try await scene.queue.enqueue(expansions) == [true, true])
        try await expectShown()
        for _ in 0..<2 {
            let groups = try await scene.claim().map(\.group)
            #expect(groups.count == 2)
            for group in groups { #expect(traces[group.cause.eventID] == group.cause.trace) }
            _ = try await scene.queue.settle(groups.map { .all($0, .dead) })
            for letter in try await scene.history.deadLetters(in: scene.network, after: nil, limit: 9) {
                #expect(try await scene.history.retryDeadLetter(letter.id, in: scene.network))
            }
        }
        try await expectShown()
    }

    @Test func `an event that notifies nobody keeps its trace`() async throws {
        let event = traced(.user(.userUpdated, Person(id: "u", displayName: "U"), at: 1))
        let other = Event.user(.userUpdated, Person(id: "v", displayName: "V"), at: 2)
        let ids = try await scene.accept(event, other)
        var shown: [TraceContext?] = []
        for id in ids { shown.append(try await scene.history.event(id, in: scene.network)?.trace) }
        #expect(shown == [trace, nil])
    }

    @Test func `an event that is set aside keeps its trace`() async throws {
        var incoming = scene.incoming(traced(.message("c", from: Person(id: "z"))))
        incoming.body = Array("[]".utf8)
        _ = try await scene.inbox.accept([incoming])
        #expect(try await scene.inbox.claimEvents(limit: 9).isEmpty)
        let status = try #require(try await scene.history.event(incoming.id, in: scene.network))
        #expect(status.failure == "unreadable" && status.trace == trace)
    }

    @Test func `what endpoints are told is of the trace of what it is about`() async throws {
        for id: EndpointID in ["e-1", "e-2"] {
            let endpoint = Endpoint.sample(id, .observing, id == "e-1" ? ["message.sent"] : ["delivery.*"])
            try await scene.endpoints.addEndpoint(endpoint, to: scene.network)
        }
        let target = try await scene.target("d", of: "a")
        for (number, trace) in [trace, nil].enumerated() {
            for pages in 1...2 {
                var event = Event.message("c", from: Person(id: "z"), id: "\(number) in \(pages)")
                event.trace = trace
                var pending = try await scene.pending(event)
                for page in 1...pages {
                    let next: PageCursor? = page < pages ? .user("a") : nil
                    var group = scene.group(pending, to: [target])
                    group.cause.trace = trace
                    var expansion = Expansion(event: pending, after: pending.cursor, groups: [group], next: next)
                    expansion.event.cursor = next
                    expansion.keepsBody = page == 1
                    #expect(try await scene.queue.enqueue([expansion]) == [true])
                    pending = expansion.event
                }
                let key = RelayKey(networkID: scene.network, endpointID: "e-1", eventID: pending.id)
                let message = try #require(try await scene.messages.relayMessages([key])[key])
                #expect(message.body != nil && message.trace == trace)
            }
            // What becomes of the devices is told as well.
            _ = try await scene.queue.settle(try await scene.claim().map { .all($0.group, .delivered) })
            let news = try await scene.claim().map(\.group)
            let keys = news.flatMap(\.relayKeys)
            let told = try await scene.messages.relayMessages(keys)
            #expect(keys.count == 3 && told.values.allSatisfy { $0.trace == trace && $0.body != nil })
            _ = try await scene.queue.settle(news.map { .all($0, .delivered) })
        }
    }
}
