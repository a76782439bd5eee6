package import CarillonCore
package import CarillonEdge
import HTTPTypes
package import Hummingbird

/// Matrix's Push Gateway API: what homeservers post notifications to (FACES part D).
///
/// - SeeAlso: <https://spec.matrix.org/latest/push-gateway-api/>
package struct MatrixFace: Face {
    static let keyPrefix = "gk_"
    static let notifyPath = "/_matrix/push/v1/notify"
    static let notifyOperation = "notify"

    private let services: Services
    private let controller: MatrixController

    package init(_ services: Services) {
        self.services = services
        controller = MatrixController(services)
    }

    package var name: FaceName { .matrix }
    package var roots: [String] { ["/_matrix/push"] }

    package func addRoutes(to routes: FaceRoutes) {
        routes.on(.post, RouterPath(Self.notifyPath), as: Self.notifyOperation, use: controller.notify)
    }

    package func answer(to error: any Error, _ problem: Problem, _ request: Request) -> Response {
        problem.matrixResponse
    }

    package func settings(of name: String, from reader: inout JSONObjectReader) -> FaceSettings? {
        let binding = MatrixBinding(&reader)
        if FaceBinding.wildcardCount(of: name) > FaceBinding.maximumWildcards {
            reader.refuse("externalId", "must have at most \(FaceBinding.maximumWildcards) wildcards")
        }
        return FaceSettings(binding.document, isPrivate: binding.isKeyRequired)
    }

    /// A gateway key, which homeservers send along in the address of the pusher. It has no rights to choose from.
    package func makeKey(_ request: FaceKeyRequest, from reader: inout JSONObjectReader) -> NewFaceKey? {
        _ = reader.value("rights")
        return NewFaceKey(
            sent: request.secret ?? Self.keyPrefix + APIKeySecret.random(43),
            name: request.name ?? APIKeySecret.random(12),
            face: .matrix,
            rights: .object(JSONObject()),
            for: request
        )
    }
}

extension MatrixFace: LoopFace {
    package func largestPost(to target: String) -> Int? {
        target.hasPrefix(Self.notifyPath) ? MatrixPost.maximumBytes : nil
    }

    package func post(_ unread: UnreadPost) -> (any FacePost)? {
        MatrixPost(unread, services, controller.outcomes)
    }

    package func events(of posts: [any FacePost], in network: NetworkID) async throws -> [[ParsedEvent]?] {
        let posts = posts.compactMap { $0 as? MatrixPost }
        var devices = try await services.addresses.devices(reachedAt: posts.flatMap(\.addresses), in: network)[...]
        var events: [[ParsedEvent]?] = []
        for post in posts {
            events.append(try await post.events(knowing: devices.prefix(post.size)))
            devices = devices.dropFirst(post.size)
        }
        return events
    }
}
