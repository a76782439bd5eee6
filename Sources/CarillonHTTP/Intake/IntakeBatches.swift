import CarillonCore
import CarillonEdge
import HTTPTypes
import NIOCore
import NIOHTTP1

/// A request that its event loop has in hand, with nothing about it that is unusual: its sender known, and counted.
protocol IntakePost: SendableMetatype {
    /// What a task is handed of it.
    associatedtype Content: Sendable
    /// What became of it.
    associatedtype Outcome: Sendable

    var since: ContinuousClock.Instant { get }
    var networkID: NetworkID { get }
    var content: Content { get }
    /// How many events it may come to.
    var size: Int { get }
    /// The id that the caller gave the request.
    var requestID: String? { get }
    /// The pattern of its address.
    var route: String { get }

    /// What its sender is told; `nil` where it has to go the way of all other requests.
    func answer(to outcome: Outcome) -> (status: HTTPResponse.Status, json: JSONValue)?
}

/// Posts that arrive in one turn of an event loop: stored by one task for each network, and answered by one hop back.
///
/// Belongs to one event loop, and is called on it alone.
final class IntakeBatches<Post: IntakePost> {
    /// Makes posts durable: all of a call or none.
    typealias Store = @Sendable ([Post.Content], NetworkID) async throws -> [Post.Outcome]

    private typealias Taken = (post: Post, reply: (IntakeReply) -> Void)

    private let loop: any EventLoop
    private let executor: LoopExecutor
    private let workLimit: Duration
    private let metrics: RequestMetrics
    private let store: Store
    private let note: ([Post], [Post.Outcome], NetworkID) -> Void
    private let giveBack: (Post) -> Void
    private let ids = UUIDv7Generator()
    private let date = DateHeader()

    private var waiting: [NetworkID: [Taken]] = [:]
    private var batches: [Int: ArraySlice<Taken>] = [:]
    private var lastBatch = 0

    /// Batches of an event loop.
    ///
    /// - Parameters:
    ///   - loop: The event loop.
    ///   - workLimit: How long the database may work for a batch.
    ///   - metrics: Where answers are counted.
    ///   - store: Makes posts durable.
    ///   - note: Writes down what became of posts, before they are answered.
    ///   - giveBack: Gives back what a post was counted for, before it goes the way of all other requests, which counts it again.
    init(
        on loop: any EventLoop,
        workLimit: Duration,
        metrics: RequestMetrics,
        store: @escaping Store,
        note: @escaping ([Post], [Post.Outcome], NetworkID) -> Void,
        giveBack: @escaping (Post) -> Void
    ) {
        self.loop = loop
        executor = LoopExecutor(loop)
        self.workLimit = workLimit
        self.metrics = metrics
        self.store = store
        self.note = note
        self.giveBack = giveBack
    }

    func add(_ post: Post, reply: @escaping (IntakeReply) -> Void) {
        if waiting.isEmpty {
            // Behind all that has arrived in this turn.
            loop.assumeIsolated().execute { self.submitAll() }
        }
        waiting[post.networkID, default: []].append((post, reply))
    }

    private func submitAll() {
        let departing = waiting
        waiting = [:]
        for (network, all) in departing {
            var (start, size) = (0, 0)
            for (index, (post, _)) in all.enumerated() {
                size += post.size
                // Never one alone, however much it is.
                guard size > EventPost.maximumEvents, index > start else { continue }
                submit(all[start..<index], of: network)
                (start, size) = (index, post.size)
            }
            submit(all[start...], of: network)
        }
    }

    private func submit(_ batch: ArraySlice<Taken>, of network: NetworkID) {
        lastBatch += 1
        batches[lastBatch] = batch
        let own = NIOLoopBound(self, eventLoop: loop)
        let (contents, number) = (batch.map(\.post.content), lastBatch)
        Task(executorPreference: executor) { [store, workLimit] in
            let outcomes: Result<[Post.Outcome], any Error>
            do {
                outcomes = .success(
                    try await UnitOfWork.run(within: workLimit) { try await store(contents, network) }
                )
            } catch {
                outcomes = .failure(error)
            }
            own.value.finish(number, of: network, outcomes)
        }
    }

    private func finish(_ number: Int, of network: NetworkID, _ result: Result<[Post.Outcome], any Error>) {
        guard let batch = batches.removeValue(forKey: number) else { return }
        switch result {
        case .success(let outcomes):
            note(batch.map(\.post), outcomes, network)
            let date = date.text
            for ((post, reply), outcome) in zip(batch, outcomes) {
                if let answer = post.answer(to: outcome) {
                    send(answer.json, answer.status, to: post, date, reply)
                } else {
                    handOn(post, reply)
                }
            }
        case .failure(let error):
            // What is wrong with one of many is told to that one, once each is tried alone.
            let isOfAll = batch.count == 1 || error.isTransient
            for (post, reply) in batch {
                if isOfAll {
                    reply(.handOn(failure: (error, network, post.since)))
                } else {
                    handOn(post, reply)
                }
            }
        }
    }

    private func handOn(_ post: Post, _ reply: (IntakeReply) -> Void) {
        reply(.handOn(failure: nil, givingBack: { self.giveBack(post) }))
    }

    private func send(
        _ json: JSONValue,
        _ status: HTTPResponse.Status,
        to post: Post,
        _ date: String,
        _ reply: (IntakeReply) -> Void
    ) {
        let body = ByteBuffer(bytes: json.serialized)
        let headers: HTTPHeaders = [
            "Content-Type": "application/json", "Cache-Control": "no-store", "Content-Length": "\(body.readableBytes)",
            "x-request-id": post.requestID ?? ids.next().canonicalText, "Date": date,
        ]
        let head = HTTPResponseHead(
            version: .http1_1,
            status: HTTPResponseStatus(statusCode: status.code),
            headers: headers
        )
        reply(.answer(head, body))
        metrics.answered(post.route, .post, status.code, after: .now - post.since)
    }
}
