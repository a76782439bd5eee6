import CarillonCore
import CarillonEdge
import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1

/// Takes posts of single events and notifications, and of dialects: all that arrive in one turn of an event loop are stored by one task for
/// each network.
///
/// Whatever is unusual, refused or failed goes the way of all other requests, which finds the words for it; so does everything while each
/// answer is logged.
final class EventIntake: RequestIntake {
    /// A post, and who is told what becomes of it.
    private typealias Taken = (post: EventPost, reply: (IntakeReply) -> Void)

    /// The most events that one task stores.
    private static let largestBatch = EventPost.maximumEvents

    private let services: Services
    private let settings: ServerSettings
    private let loop: any EventLoop
    private let executor: LoopExecutor
    private let journal: PostJournal
    private let count: PostCount
    private let metrics: RequestMetrics
    private let ids: UUIDv7Generator
    private let date = DateHeader()
    private let isOn: Bool

    private var waiting: [NetworkID: [Taken]] = [:]
    private var batches: [Int: ArraySlice<Taken>] = [:]
    private var lastBatch = 0

    init(_ services: Services, settings: ServerSettings, loop: any EventLoop) {
        self.services = services
        self.settings = settings
        self.loop = loop
        executor = LoopExecutor(loop)
        journal = PostJournal(entries: services.journal, history: services.history)
        count = PostCount(services: services, journal: journal)
        metrics = RequestMetrics(factory: services.metrics)
        ids = UUIDv7Generator()
        isOn = services.logger.logLevel > .debug
    }

    func mayTake(_ head: HTTPRequestHead) -> Bool {
        guard isOn, head.method == .POST, let address = PostAddress(head.uri),
            let length = head.headers.first(name: "content-length").flatMap({ Int($0) })
        else { return false }
        return length <= address.kind.largestBody
    }

    func take(_ head: HTTPRequestHead, _ body: ByteBuffer, reply: @escaping (IntakeReply) -> Void) -> Bool {
        guard let post = EventPost(head, body, services, within: settings),
            post.weight == 0 || services.rates.wait(counting: post.weight, of: post.network) == nil
        else { return false }
        if waiting.isEmpty {
            // Behind all that has arrived in this turn.
            loop.assumeIsolated().execute { self.submitAll() }
        }
        waiting[post.network.id, default: []].append((post, reply))
        return true
    }

    private func submitAll() {
        let departing = waiting
        waiting = [:]
        for (network, all) in departing {
            var (start, size) = (0, 0)
            for (index, (post, _)) in all.enumerated() {
                size += post.events.count
                guard size > Self.largestBatch else { continue }
                submit(all[start..<index], of: network)
                (start, size) = (index, post.events.count)
            }
            submit(all[start...], of: network)
        }
    }

    private func submit(_ batch: ArraySlice<Taken>, of network: NetworkID) {
        lastBatch += 1
        batches[lastBatch] = batch
        let intake = NIOLoopBound(self, eventLoop: loop)
        let (events, number) = (batch.flatMap(\.post.events), lastBatch)
        Task(executorPreference: executor) { [services, limit = settings.workLimit] in
            let outcome: Result<[Receipt], any Error>
            do {
                let receipts = try await UnitOfWork.run(within: limit) { try await services.accept(events, network) }
                outcome = .success(receipts)
            } catch {
                outcome = .failure(error)
            }
            intake.value.finish(number, of: network, outcome)
        }
    }

    private func finish(_ number: Int, of network: NetworkID, _ outcome: Result<[Receipt], any Error>) {
        guard let batch = batches.removeValue(forKey: number) else { return }
        switch outcome {
        case .success(let receipts):
            for (name, posts) in Dictionary(grouping: batch, by: \.post.kind.name) {
                count.add(posts.count, on: name, of: network)
            }
            let date = date.text
            var rest = receipts[...]
            for (post, reply) in batch {
                let own = Array(rest.prefix(post.events.count))
                rest = rest.dropFirst(post.events.count)
                post.note(own, in: journal)
                answer(post, own, date, reply)
            }
        case .failure(let error):
            // What is wrong with one of many is told to that one, once each is tried alone.
            let isOfAll = batch.count == 1 || error.isTransient
            for (post, reply) in batch {
                if isOfAll {
                    reply(.handOn(failure: (error, network, post.since)))
                } else {
                    services.rates.giveBack(events: post.weight, of: post.network)
                    reply(.handOn(failure: nil))
                }
            }
        }
    }

    private func answer(_ post: EventPost, _ receipts: [Receipt], _ date: String, _ reply: (IntakeReply) -> Void) {
        let answer = post.answer(receipts)
        let body = ByteBuffer(bytes: answer.json.serialized)
        let headers: HTTPHeaders = [
            "Content-Type": "application/json", "Cache-Control": "no-store", "Content-Length": "\(body.readableBytes)",
            "x-request-id": post.requestID ?? ids.next().canonicalText, "Date": date,
        ]
        let status = HTTPResponseStatus(statusCode: answer.status.code)
        reply(.answer(HTTPResponseHead(version: .http1_1, status: status, headers: headers), body))
        metrics.answered(post.kind.route, .post, answer.status.code, after: .now - post.since)
    }
}
