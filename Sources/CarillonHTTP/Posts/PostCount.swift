import CarillonCore
import CarillonDialects
import CarillonEdge
import HTTPTypes
import Hummingbird

/// Counts what networks are posted, and what of it is refused as not theirs to post: by that an operator sees whose senders have the wrong
/// key. Of networks that are not there nothing is counted.
struct PostCount: Sendable {
    private static let refusals: Set<HTTPResponse.Status> = [.unauthorized, .forbidden, .notFound]

    let services: Services
    let journal: PostJournal

    /// Answers a post; one that failed on its event loop fails as it did there.
    func counting(
        _ kind: PostAddress.Kind,
        _ context: CarillonRequestContext,
        _ body: () async throws -> Response
    ) async throws -> Response {
        let route = kind.name
        if let failure = services.failures.take(context.channel) {
            context.caller.note(.network(failure.network))
            context.caller.note(since: failure.since)
            if let place = kind.place { journal.note(failure.error, place, in: failure.network) }
            add(1, on: route, of: failure.network)
            throw failure.error
        }
        do {
            let response = try await body()
            await count(response.status, on: route, context)
            return response
        } catch {
            await count((error as? Problem)?.status, on: route, context)
            throw error
        }
    }

    /// Counts posts of a network that is known to be there, none of which was refused as not theirs.
    func add(_ posts: Int, on route: String, of network: NetworkID) {
        services.recorder.add(to: network) { $0.posts[route, default: StatisticsFigures.Posts()].all += posts }
    }

    private func count(
        _ status: HTTPResponse.Status?,
        on route: String,
        _ context: CarillonRequestContext
    ) async {
        guard let network = await services.authenticator.knownNetwork(context) else { return }
        services.recorder.add(to: network) { figures in
            figures.posts[route, default: StatisticsFigures.Posts()].all += 1
            guard let status, Self.refusals.contains(status) else { return }
            figures.posts[route]?.refused += 1
        }
    }
}

extension PostAddress.Kind {
    /// Where it is written down what became of its posts; `nil` where it is not.
    fileprivate var place: PostJournal.Place? {
        switch self {
        case .event: .native
        case .notification: nil
        case .dialect(let dialect): .dialect(dialect.name)
        }
    }
}
