import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// Counts what networks are posted, and what of it is refused as not theirs to post: by that an operator sees whose senders have the wrong
/// key. Of networks that are not there nothing is counted.
struct PostCount: Sendable {
    private static let refusals: Set<HTTPResponse.Status> = [.unauthorized, .forbidden, .notFound]

    let authenticator: Authenticator
    let recorder: StatisticsRecorder

    /// Answers a post on a route, which is called as it goes on behind the network's.
    func counting(
        _ route: String,
        _ context: CarillonRequestContext,
        _ body: () async throws -> Response
    ) async throws -> Response {
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
        recorder.add(to: network) { $0.posts[route, default: StatisticsFigures.Posts()].all += posts }
    }

    private func count(
        _ status: HTTPResponse.Status?,
        on route: String,
        _ context: CarillonRequestContext
    ) async {
        guard let network = await authenticator.knownNetwork(context) else { return }
        recorder.add(to: network) { figures in
            figures.posts[route, default: StatisticsFigures.Posts()].all += 1
            guard let status, Self.refusals.contains(status) else { return }
            figures.posts[route]?.refused += 1
        }
    }
}
