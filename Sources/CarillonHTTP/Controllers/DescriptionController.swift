import CarillonEdge
import Hummingbird
import NIOCore

/// The descriptions of this API and of the other systems' that are answered, for whoever asks.
struct DescriptionController {
    let openAPI: String
    let faces: String

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.get("/openapi.yaml") { _, _ in Self.answer(openAPI) }
        router.get("/openapi-faces.yaml") { _, _ in Self.answer(faces) }
    }

    private static func answer(_ text: String) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "application/yaml", .cacheControl: "no-cache"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }
}
