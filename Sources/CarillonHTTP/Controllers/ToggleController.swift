import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// The toggle documents of the three levels (API section 5).
struct ToggleController: Controller {
    private typealias Target = (scope: ToggleScope, networkID: NetworkID, writer: Writer)

    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        let paths: [(RouterPath, @Sendable (Request, CarillonRequestContext) async throws -> Target)] = [
            ("/v1/networks/{network}/notifications", networkLevel),
            ("/v1/networks/{network}/users/{user}/notifications", userLevel),
            ("/v1/networks/{network}/users/{user}/channels/{channel}/notifications", channelLevel),
        ]
        router.pages.get("/v1/networks/{network}/users/{user}/channels", use: listChannels)
        for (path, target) in paths {
            router.get(path) { request, context in
                try await show(try await target(request, context), request)
            }
            router.put(path) { request, context in
                let target = try await target(request, context)
                let document = try target.scope.checked(try await RequestBodyReader.json(of: request))
                return try await write(target, request) { _ in document }
            }
            router.patch(path) { request, context in
                let target = try await target(request, context)
                let patch = try await RequestBodyReader.json(of: request, types: ContentType.mergePatch)
                try target.scope.checkMembers(ofPatch: patch)
                return try await write(target, request) { current in
                    try target.scope.checked(target.scope.completed(current).merging(patch: patch))
                }
            }
            router.delete(path) { request, context in
                let target = try await target(request, context)
                let isRemoved = try await services.toggles.removeToggles(
                    target.scope,
                    in: target.networkID,
                    expected: EntityTag.condition(request.headers)
                )
                guard isRemoved else { throw Problem.preconditionFailed }
                return Response(status: .noContent)
            }
        }
    }

    private func listChannels(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await access(request, context)
        let user = try access.knownUser(try context.identifier("user", as: Person.self))
        let query = QueryParameters(request)
        try query.refuseAll()
        let page = try Page(query)
        let channels = try await services.toggles.channels(
            of: user,
            in: access.networkID,
            after: page.after { ChannelID($0) },
            limit: page.fetchLimit
        )
        guard let channels else { throw Problem.notFound() }
        return page.answer(channels, key: \.channel.id.rawValue) { $0.json(for: user) }
    }

    private func networkLevel(_ request: Request, _ context: CarillonRequestContext) async throws -> Target {
        (.network, try await admin(request, context).networkID, .admin)
    }

    private func userLevel(_ request: Request, _ context: CarillonRequestContext) async throws -> Target {
        let (access, user) = try await accessToUser(request, context)
        return (.user(user), access.networkID, access.writer)
    }

    private func channelLevel(_ request: Request, _ context: CarillonRequestContext) async throws -> Target {
        let (access, user) = try await accessToUser(request, context)
        return (.channel(user, try context.identifier("channel", as: Channel.self)), access.networkID, access.writer)
    }

    private func show(_ target: Target, _ request: Request) async throws -> Response {
        let current = try await services.toggles.toggles(target.scope, in: target.networkID)
        guard !EntityTag.isKnown(current.version, to: request.headers) else {
            return Response(status: .notModified, headers: [.eTag: EntityTag.text(of: current.version)])
        }
        return answer(target.scope, current)
    }

    private func write(
        _ target: Target,
        _ request: Request,
        _ change: @escaping @Sendable (JSONValue) throws -> JSONValue
    ) async throws -> Response {
        let written = try await services.toggles.updateToggles(
            target.scope,
            in: target.networkID,
            by: target.writer,
            expected: EntityTag.condition(request.headers),
            change
        )
        guard let written else { throw Problem.preconditionFailed }
        return answer(target.scope, written)
    }

    /// The full document with `updatedAt`. It may be kept, as long as it is asked for again whether it still holds.
    private func answer(_ scope: ToggleScope, _ current: Versioned<JSONValue>) -> Response {
        .json(
            current.json(of: scope),
            headers: [.eTag: EntityTag.text(of: current.version), .cacheControl: "private, no-cache"]
        )
    }
}

extension Versioned<JSONValue> {
    /// The full document, with `updatedAt`.
    fileprivate func json(of scope: ToggleScope) -> JSONValue {
        var shown = JSONObject()
        if case .object(let object) = scope.completed(document) { shown = object }
        shown["updatedAt"] = JSONValue(updatedAt)
        return .object(shown)
    }
}

extension UserChannel {
    /// The channel as the API shows it, with the user's switches for it.
    fileprivate func json(for user: UserID) -> JSONValue {
        guard case .object(var shown) = channel.json else { return channel.json }
        shown["notifications"] = toggles.json(of: .channel(user, channel.id))
        return .object(shown)
    }
}
