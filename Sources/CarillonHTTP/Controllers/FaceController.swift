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
        let admins = admins(router)
        admins.pages("/faces", use: list)
        addBindings(to: admins)
        addKeys(to: admins)
        // What was answered lately, and why not otherwise.
        admins.pages("/faces/{face}/recent") { request in
            let face = try system(of: request)
            try request.query.refuseAll(isPaged: false)
            let entries = try await services.journal.entries(of: face.name.journalName, in: request.network)
            return .json(["items": .array(entries.map(\.json))])
        }
    }

    private func addBindings(to admins: NetworkRoutes) {
        let path = "/faces/{face}/{externalId}"
        admins.show(path) { request in
            let (face, name) = try (system(of: request), externalID(request))
            let bindings = try await services.faceStore.faceBindings(of: request.network)
            return bindings.first {
                $0.face == face.name && Identifier<FaceBinding>(trusted: $0.externalID) == name
            }?.json
        }
        admins.store(path, put)
        admins.remove(path) { request in
            let (face, name) = try (system(of: request), externalID(request).rawValue)
            let store = services.faceStore
            let existed = try await store.deleteFaceBinding(face.name, externalID: name, of: request.network)
            await services.facesChanged(request.network)
            return existed
        }
    }

    private func addKeys(to admins: NetworkRoutes) {
        admins.pages("/faces/{face}/keys") { request in
            let face = try system(of: request)
            try request.query.refuseAll()
            let page = try request.page()
            let keys = try await services.faceStore.faceKeys(face.name, of: request.network)
            return page.answer(keys, by: \.name) { .object($0.json) }
        }
        admins.post("/faces/{face}/keys", use: createKey)
        admins.remove("/faces/{face}/keys/{name}") { request in
            let face = try system(of: request)
            let name = try request.id("name", as: FaceKey.self).rawValue
            let removed = try await services.faceStore.deleteFaceKey(face.name, name: name, of: request.network)
            await services.facesChanged(request.network)
            return removed != nil
        }
    }

    private func list(_ request: NetworkRequest) async throws -> Response {
        let query = request.query
        try query.refuseAll(but: "face")
        let face = try query.choice("face", of: FaceName.self)
        let page = try Page(query)
        let all = try await services.faceStore.faceBindings(of: request.network).filter {
            face == nil || $0.face == face
        }
        return page.answer(all, by: \.cursor, \.json)
    }

    /// Writes a binding. Names are everybody's: whoever has somebody else's receives their tokens and messages, so that only the
    /// operator gives out a new one.
    private func put(_ request: NetworkRequest) async throws -> (stored: JSONValue, isNew: Bool) {
        let (face, name) = try (system(of: request), externalID(request).rawValue)
        let settings = try await face.settings(of: name, json: request.json())
        if let conflict = face.conflict(of: settings, in: request.access.network) { throw conflict }
        let binding = FaceBinding(
            face: face.name,
            externalID: name,
            networkID: request.network,
            isPrivate: settings.isPrivate,
            settings: settings.document,
            updatedAt: services.clock.now()
        )
        let isClaiming = request.access.principal == .operator
        let isNew = try await services.faceStore.putFaceBinding(binding, claiming: isClaiming)
        await services.facesChanged(request.network)
        return (binding.json, isNew)
    }

    /// Makes a key, with a secret that is shown once, or takes one over that existing clients hold.
    private func createKey(_ request: NetworkRequest) async throws -> Response {
        let face = try system(of: request)
        let body = try await RequestBodyReader.optionalJSON(of: request.http) ?? [:]
        let bindings = try await services.faceStore.faceBindings(of: request.network).filter { $0.face == face.name }
        let key = try face.key(
            json: body,
            for: request.network,
            boundAs: bindings.map(\.externalID),
            mayTakeOver: request.access.principal == .operator,
            now: services.clock.now()
        )
        let answer = key.json
        let creation = try await services.faceStore.addFaceKey(
            key.stored,
            answering: request.repeatable(body, answering: answer)
        )
        await services.facesChanged(request.network)
        return creation.response(answer) ?? .json(answer, status: .created)
    }

    /// The system of the path, if it is one that is answered here.
    private func system(of request: NetworkRequest) throws(Problem) -> any Face {
        let name = try request.context.segment("face")
        return try faces.first { $0.name.rawValue == name }.found()
    }

    private func externalID(_ request: NetworkRequest) throws(Problem) -> Identifier<FaceBinding> {
        let id = try request.id("externalId", as: FaceBinding.self)
        guard !Self.reserved.contains(id.rawValue) else {
            throw .invalidID("externalId", "must not be \(Self.reserved.joined(separator: " or "))")
        }
        return id
    }
}

extension FaceBinding {
    fileprivate var cursor: String { "\(face.rawValue)/\(externalID)" }
}
