import CarillonCore
import CarillonEdge
import Logging
import NIOCore
import NIOHTTP1

/// Takes posts of single events and notifications, and of dialects, on an event loop.
///
/// Whatever is unusual, refused or failed goes the way of all other requests, which finds the words for it; so does everything while each
/// answer is logged.
final class EventIntake: RequestIntake {
    private let services: Services
    private let settings: ServerSettings
    private let batches: IntakeBatches<EventPost>
    private let isOn: Bool

    init(_ services: Services, settings: ServerSettings, loop: any EventLoop) {
        self.services = services
        self.settings = settings
        isOn = services.logger.logLevel > .debug
        let journal = PostJournal(entries: services.journal, history: services.history)
        let count = PostCount(services: services, journal: journal)
        batches = IntakeBatches(
            on: loop,
            workLimit: settings.workLimit,
            metrics: RequestMetrics(factory: services.metrics),
            store: { [accept = services.accept] posts, network in
                var rest = try await accept(posts.flatMap(\.self), network)[...]
                return posts.map { events in
                    defer { rest = rest.dropFirst(events.count) }
                    return Array(rest.prefix(events.count))
                }
            },
            note: { posts, receipts, network in
                for (name, posts) in Dictionary(grouping: posts, by: \.kind.name) {
                    count.add(posts.count, on: name, of: network)
                }
                for (post, receipts) in zip(posts, receipts) { post.note(receipts, in: journal) }
            },
            giveBack: { [rates = services.rates] in rates.giveBack(events: $0.weight, of: $0.network) }
        )
    }

    func mayTake(_ head: HTTPRequestHead) -> Bool {
        guard isOn, let length = head.contentLength, let address = PostAddress(head.uri) else { return false }
        return length <= address.kind.largestBody
    }

    func take(_ request: ArrivedRequest, reply: @escaping (IntakeReply) -> Void) -> Bool {
        guard let post = EventPost(request.head, request.body, services, within: settings),
            post.weight == 0 || services.rates.wait(counting: post.weight, of: post.network) == nil
        else { return false }
        batches.add(post, reply: reply)
        return true
    }
}
