import CarillonEdge
import Hummingbird
import NIOCore

/// The description of this API, for whoever asks.
struct DescriptionController: Sendable {
    let openAPI: String

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.get("/openapi.yaml") { _, _ in
            Response(
                status: .ok,
                headers: [.contentType: "application/yaml", .cacheControl: "no-cache"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: openAPI))
            )
        }
    }
}
