import CarillonCore
import CarillonEdge
import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1

/// Takes what a face lets its event loops take, as ``EventIntake`` does with Carillon's own posts.
final class FaceIntake: RequestIntake {
    private let face: any LoopFace
    private let settings: ServerSettings
    private let batches: IntakeBatches<LoopPost>
    private let isOn: Bool

    init(_ face: any LoopFace, _ services: Services, settings: ServerSettings, loop: any EventLoop) {
        self.face = face
        self.settings = settings
        isOn = services.logger.logLevel > .debug
        let log = FaceLog(journal: services.journal, metrics: services.metrics)
        batches = IntakeBatches(
            on: loop,
            workLimit: settings.workLimit,
            metrics: RequestMetrics(factory: services.metrics),
            store: { [accept = services.accept] posts, network in
                let found = try await face.events(of: posts.map(\.post), in: network)
                guard found.count == posts.count else { return posts.map { _ in nil } }
                let events = zip(posts, found).flatMap { post, events in
                    (events ?? []).map { $0.traced(post.trace) }
                }
                var rest = events.isEmpty ? [] : try await accept(events, network)[...]
                return found.map { events in
                    defer { rest = rest.dropFirst(events?.count ?? 0) }
                    return events.map { Array(rest.prefix($0.count)) }
                }
            },
            note: { posts, outcomes, network in
                for (post, receipts) in zip(posts, outcomes) {
                    guard let receipts else { continue }
                    post.content.post.noteAccepted()
                    log.note(face.name, post.content.post.operation, answered: .ok, in: network, receipts.first?.id)
                }
            },
            giveBack: { $0.content.post.giveBack() }
        )
    }

    func mayTake(_ head: HTTPRequestHead) -> Bool {
        guard isOn, let length = head.contentLength, let most = face.largestPost(to: head.uri) else { return false }
        return length <= most
    }

    func take(_ request: ArrivedRequest, reply: @escaping (IntakeReply) -> Void) -> Bool {
        let since = ContinuousClock.now
        guard request.head.version == .http1_1, let peer = request.peer,
            let fields = PostHead(request.head.headers, within: settings), fields.isJSON
        else { return false }
        let unread = UnreadPost(
            target: request.head.uri,
            body: Array(request.body.readableBytesView),
            client: fields.client(of: peer, trusting: settings.trustedProxies)
        )
        guard let post = face.post(unread) else { return false }
        let content = LoopPost.Content(post: post, trace: fields.trace)
        batches.add(LoopPost(content: content, since: since, requestID: fields.requestID), reply: reply)
        return true
    }
}

/// A face's post, and how it came.
private struct LoopPost: IntakePost {
    struct Content: Sendable {
        let post: any FacePost
        let trace: TraceContext?
    }

    let content: Content
    let since: ContinuousClock.Instant
    let requestID: String?

    var networkID: NetworkID { content.post.networkID }
    var size: Int { content.post.size }
    var route: String { content.post.route }

    func answer(to outcome: [Receipt]?) -> (status: HTTPResponse.Status, json: JSONValue)? {
        outcome.map { _ in (.ok, content.post.answer) }
    }
}
