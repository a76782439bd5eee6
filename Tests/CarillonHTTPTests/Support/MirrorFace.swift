import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// Another system that is as small as one can be: keeps what it is told, and answers with it.
struct MirrorFace: Face {
    let services: Services
    let name = FaceName.matrix
    let roots = ["/mirror"]

    func answer(to error: any Error, _ problem: Problem, _ request: Request) -> Response {
        .json(["oops": JSONValue(problem.status.code)], status: problem.status)
    }

    func addRoutes(to routes: FaceRoutes) {
        routes.on(.get, "/mirror/{name}", as: "look") { [lookup = services.faceLookup] request, context in
            let name = try context.segment("name")
            guard let binding = try await lookup().binding(.matrix, matching: name) else { throw Problem.notFound() }
            context.face.note(network: binding.networkID)
            if name.hasSuffix("!") {
                context.face.note(reason: "names must not shout")
                throw Problem.forbidden("")
            }
            return .json(.object(binding.settings))
        }
    }

    func settings(of name: String, from reader: inout JSONObjectReader) -> FaceSettings? {
        let isPrivate = reader.bool("gatewayKeyRequired") ?? false
        var document = JSONObject()
        document["text"] = reader.string("text", required: true, maximumBytes: 100_000).map(JSONValue.string)
        return FaceSettings(document, isPrivate: isPrivate)
    }

    func makeKey(_ request: FaceKeyRequest, from reader: inout JSONObjectReader) -> NewFaceKey? {
        guard let rights = reader.strings("rights", required: true, maximumCount: 100) else { return nil }
        let secret = request.secret ?? "mk_made"
        let key = FaceKey(
            face: name,
            networkID: request.networkID,
            name: request.name ?? "\(request.boundNames.first ?? "none").1",
            rights: JSONValue(rights),
            label: request.label,
            createdAt: request.now
        )
        return NewFaceKey(
            stored: StoredFaceKey(key: key, proof: .hash(SecretHash(of: secret))),
            shown: ["secret": .string(secret)]
        )
    }
}
