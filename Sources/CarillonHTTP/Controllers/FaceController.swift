import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// What a network is called by other systems' clients, those clients' keys, and what they were answered lately (FACES section A5).
/// For admins.
struct FaceController: Controller {
    /// What stands where names do, and so cannot be one.
    private static let reserved = ["keys", "recent"]

    let services: Services
    let faces: [any Face]

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.pages.get("/v1/networks/{network}/faces", use: list)
        router.pages.get("/v1/networks/{network}/faces/{face}/keys", use: listKeys)
        router.post("/v1/networks/{network}/faces/{face}/keys", use: createKey)
        router.delete("/v1/networks/{network}/faces/{face}/keys/{name}", use: deleteKey)
        router.pages.get("/v1/networks/{network}/faces/{face}/recent", use: listRecent)
        router.get("/v1/networks/{network}/faces/{face}/{externalId}", use: show)
        router.put("/v1/networks/{network}/faces/{face}/{externalId}", use: put)
        router.delete("/v1/networks/{network}/faces/{face}/{externalId}", use: delete)
    }

    private func list(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        let query = QueryParameters(request)
        try query.refuseAll(but: "face")
        let face = try query.choice("face", of: FaceName.self)
        let page = try Page(query)
        let all = try await services.faceStore.faceBindings(of: access.networkID).filter {
            face == nil || $0.face == face
        }
        return page.answer(all, by: \.cursor, \.json)
    }

    private func show(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, face) = try await adminAndFace(request, context)
        let name = try externalID(context)
        let binding = try await services.faceStore.faceBindings(of: access.networkID).first {
            $0.face == face.name && Identifier<FaceBinding>(trusted: $0.externalID) == name
        }
        guard let binding else { throw Problem.notFound() }
        return .json(binding.json)
    }

    /// Writes a binding. Names are everybody's: whoever has somebody else's receives their tokens and messages, so that only the
    /// operator gives out a new one.
    private func put(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, face) = try await adminAndFace(request, context)
        let name = try externalID(context).rawValue
        let settings = try await face.settings(of: name, json: RequestBodyReader.json(of: request))
        if let conflict = face.conflict(of: settings, in: access.network) { throw conflict }
        let binding = FaceBinding(
            face: face.name,
            externalID: name,
            networkID: access.networkID,
            isPrivate: settings.isPrivate,
            settings: settings.document,
            updatedAt: services.clock.now()
        )
        let isNew = try await services.faceStore.putFaceBinding(binding, claiming: access.principal == .operator)
        await services.facesChanged(access.networkID)
        return .json(binding.json, status: isNew ? .created : .ok)
    }

    private func delete(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, face) = try await adminAndFace(request, context)
        let name = try externalID(context).rawValue
        let existed = try await services.faceStore.deleteFaceBinding(face.name, externalID: name, of: access.networkID)
        await services.facesChanged(access.networkID)
        guard existed else { throw Problem.notFound() }
        return .noContent
    }

    private func listKeys(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, face) = try await adminAndFace(request, context)
        let query = QueryParameters(request)
        try query.refuseAll()
        let page = try Page(query)
        let keys = try await services.faceStore.faceKeys(face.name, of: access.networkID)
        return page.answer(keys, by: \.name) { .object($0.json) }
    }

    /// Makes a key, with a secret that is shown once, or takes one over that existing clients hold.
    private func createKey(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, face) = try await adminAndFace(request, context)
        let body = try await RequestBodyReader.json(of: request)
        let bindings = try await services.faceStore.faceBindings(of: access.networkID).filter { $0.face == face.name }
        let key = try face.key(
            json: body,
            for: access.networkID,
            boundAs: bindings.map(\.externalID),
            mayTakeOver: access.principal == .operator,
            now: services.clock.now()
        )
        let answer = key.json
        let creation = try await services.faceStore.addFaceKey(
            key.stored,
            answering: IdempotentRequest(request, by: access.admin, in: access.networkID, body: body, answer: answer)
        )
        await services.facesChanged(access.networkID)
        return creation.response(answer) ?? .json(answer, status: .created)
    }

    private func deleteKey(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, face) = try await adminAndFace(request, context)
        let name = try context.identifier("name", as: FaceKey.self).rawValue
        let removed = try await services.faceStore.deleteFaceKey(face.name, name: name, of: access.networkID)
        await services.facesChanged(access.networkID)
        guard removed != nil else { throw Problem.notFound() }
        return .noContent
    }

    /// What was answered lately, and why not otherwise.
    private func listRecent(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, face) = try await adminAndFace(request, context)
        try QueryParameters(request).refuseAll(isPaged: false)
        let entries = try await services.journal.entries(of: face.name.journalName, in: access.networkID)
        return .json(["items": .array(entries.map(\.json))])
    }

    /// The admin, and the system of the path, if it is one that is answered here.
    private func adminAndFace(
        _ request: Request,
        _ context: CarillonRequestContext
    ) async throws -> (access: Access, face: any Face) {
        let access = try await admin(request, context)
        let name = try context.segment("face")
        guard let face = faces.first(where: { $0.name.rawValue == name }) else { throw Problem.notFound() }
        return (access, face)
    }

    private func externalID(_ context: CarillonRequestContext) throws(Problem) -> Identifier<FaceBinding> {
        let id = try context.identifier("externalId", as: FaceBinding.self)
        guard !Self.reserved.contains(id.rawValue) else {
            throw .invalidID("externalId", "must not be \(Self.reserved.joined(separator: " or "))")
        }
        return id
    }
}

extension FaceBinding {
    fileprivate var cursor: String { "\(face.rawValue)/\(externalID)" }
}
