package import CarillonCore
package import CarillonEdge
import HTTPTypes
package import Hummingbird

/// Matrix's Push Gateway API: what homeservers post notifications to (FACES part D).
///
/// - SeeAlso: <https://spec.matrix.org/latest/push-gateway-api/>
package struct MatrixFace: Face {
    static let keyPrefix = "gk_"

    private let controller: MatrixController

    package init(_ services: Services) {
        controller = MatrixController(services)
    }

    package var name: FaceName { .matrix }
    package var roots: [String] { ["/_matrix/push"] }

    package func addRoutes(to routes: FaceRoutes) {
        routes.on(.post, "/_matrix/push/v1/notify", as: "notify", use: controller.notify)
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
