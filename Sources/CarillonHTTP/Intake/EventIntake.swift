import CarillonCore
import CarillonEdge
import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1

/// Takes posts of single events: all that arrive in one turn of an event loop are stored by one task for each network.
///
/// Whatever is unusual, refused or failed goes the way of all other requests, which finds the words for it; so does everything while each
/// answer is logged.
final class EventIntake: RequestIntake {
    /// A post, and who is told what becomes of it.
    private typealias Taken = (post: EventPost, reply: (IntakeReply) -> Void)

    static let route = "/v1/networks/{network}/events"
    /// The most bytes of a body that is read on an event loop, which everybody else's connections wait for.
    private static let largestBody = 32 << 10
    private static let largestFlight = 32

    private let services: Services
    private let settings: ServerSettings
    private let loop: any EventLoop
    private let journal: PostJournal
    private let count: PostCount
    private let metrics: RequestMetrics
    private let ids: UUIDv7Generator
    private let date = DateHeader()
    private let isOn: Bool

    private var waiting: [NetworkID: [Taken]] = [:]
    private var flights: [Int: ArraySlice<Taken>] = [:]
    private var lastFlight = 0

    init(_ services: Services, settings: ServerSettings, loop: any EventLoop) {
        self.services = services
        self.settings = settings
        self.loop = loop
        journal = PostJournal(entries: services.journal, history: services.history)
        count = PostCount(authenticator: services.authenticator, recorder: services.recorder)
        metrics = RequestMetrics(factory: services.metrics)
        ids = UUIDv7Generator()
        isOn = services.logger.logLevel > .debug
    }

    func mayTake(_ head: HTTPRequestHead) -> Bool {
        guard isOn, head.method == .POST, EventPost.mayBe(at: head.uri),
            let length = head.headers.first(name: "content-length").flatMap({ Int($0) })
        else { return false }
        return length <= Self.largestBody
    }

    func take(_ head: HTTPRequestHead, _ body: ByteBuffer, reply: @escaping (IntakeReply) -> Void) -> Bool {
        guard let post = EventPost(head, body, services, within: settings),
            services.rates.admits(events: 1, of: post.network)
        else { return false }
        if waiting.isEmpty {
            // Behind all that has arrived in this turn.
            loop.assumeIsolated().execute { self.depart() }
        }
        waiting[post.network.id, default: []].append((post, reply))
        return true
    }

    private func depart() {
        let departing = waiting
        waiting = [:]
        for (network, all) in departing {
            var rest = all[...]
            while !rest.isEmpty {
                fly(rest.prefix(Self.largestFlight), of: network)
                rest = rest.dropFirst(Self.largestFlight)
            }
        }
    }

    private func fly(_ flight: ArraySlice<Taken>, of network: NetworkID) {
        lastFlight += 1
        flights[lastFlight] = flight
        let intake = NIOLoopBound(self, eventLoop: loop)
        Task { [services, limit = settings.workLimit, events = flight.map(\.post.event), number = lastFlight] in
            let outcome: Result<[Receipt], any Error>
            do {
                let receipts = try await UnitOfWork.run(within: limit) { try await services.accept(events, network) }
                outcome = .success(receipts)
            } catch {
                outcome = .failure(error)
            }
            intake.eventLoop.execute { intake.value.land(number, of: network, outcome) }
        }
    }

    private func land(_ number: Int, of network: NetworkID, _ outcome: Result<[Receipt], any Error>) {
        guard let flight = flights.removeValue(forKey: number) else { return }
        switch outcome {
        case .success(let receipts):
            count.add(receipts.count, on: "events", of: network)
            let date = date.text
            for ((post, reply), receipt) in zip(flight, receipts) {
                let reason = post.reasonToIgnore
                journal.answered([receipt], ignoring: reason, in: network)
                answer(post, receipt.json(because: reason), date, reply)
            }
        case .failure(let error):
            // What is wrong with one of many is told to that one, once each is tried alone.
            let isOfAll = flight.count == 1 || error.isTransient
            for (post, reply) in flight {
                if isOfAll {
                    reply(.handOn(failure: FailedRequests.Failure(error, in: network, since: post.since)))
                } else {
                    services.rates.giveBack(events: 1, of: post.network)
                    reply(.handOn(failure: nil))
                }
            }
        }
    }

    private func answer(_ post: EventPost, _ json: JSONValue, _ date: String, _ reply: (IntakeReply) -> Void) {
        let body = ByteBuffer(bytes: json.serialized)
        let headers: HTTPHeaders = [
            "Content-Type": "application/json", "Cache-Control": "no-store", "Content-Length": "\(body.readableBytes)",
            "x-request-id": post.requestID ?? ids.next().canonicalText, "Date": date,
        ]
        reply(.answer(HTTPResponseHead(version: .http1_1, status: .accepted, headers: headers), body))
        metrics.answered(
            RequestMetrics.Key(route: Self.route, method: .post, status: Int(HTTPResponseStatus.accepted.code)),
            after: .now - post.since
        )
    }
}
