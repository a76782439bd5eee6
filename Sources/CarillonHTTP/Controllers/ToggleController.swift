import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// The toggle documents of the three levels (API section 5).
struct ToggleController: Controller {
    private typealias Target = (scope: ToggleScope, writer: Writer)

    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        addDocument("/notifications", to: admins(router)) { _ in (.network, .admin) }
        addDocument("/users/{user}/notifications", to: callers(router)) { (.user(try $0.user()), $0.access.writer) }
        addDocument("/users/{user}/channels/{channel}/notifications", to: callers(router)) { request in
            (.channel(try request.user(), try request.id("channel")), request.access.writer)
        }
        callers(router).pages("/users/{user}/channels", use: listChannels)
    }

    private func addDocument(
        _ path: String,
        to routes: NetworkRoutes,
        _ target: @escaping @Sendable (NetworkRequest) throws -> Target
    ) {
        routes.get(path) { try await show(try target($0).scope, $0) }
        routes.put(path) { request in
            let target = try target(request)
            let document = try target.scope.checked(try await request.json())
            return try await write(target, request) { _ in document }
        }
        routes.patch(path) { request in
            let target = try target(request)
            let patch = try await request.mergePatch()
            try target.scope.checkMembers(ofPatch: patch)
            return try await write(target, request) { current in
                try target.scope.checked(target.scope.completed(current).merging(patch: patch))
            }
        }
        routes.delete(path) { request in
            let isRemoved = try await services.toggles.removeToggles(
                target(request).scope,
                in: request.network,
                expected: EntityTag.condition(request.http.headers)
            )
            guard isRemoved else { throw Problem.preconditionFailed }
            return .noContent
        }
    }

    private func listChannels(_ request: NetworkRequest) async throws -> Response {
        let user = try request.knownUser()
        try request.query.refuseAll()
        let json = { (channel: UserChannel) in channel.json(for: user) }
        return try await request.list(by: \UserChannel.channel.id.rawValue, after: { ChannelID($0) }, json: json) {
            try await services.toggles.channels(of: user, in: request.network, after: $0, limit: $1).found()
        }
    }

    private func show(_ scope: ToggleScope, _ request: NetworkRequest) async throws -> Response {
        let current = try await services.toggles.toggles(scope, in: request.network)
        let tag = EntityTag.text(of: current.version)
        guard !EntityTag.isKnown(tag, to: request.http.headers) else {
            return Response(status: .notModified, headers: Self.headers(tag))
        }
        return answer(scope, current)
    }

    private func write(
        _ target: Target,
        _ request: NetworkRequest,
        _ change: @escaping @Sendable (JSONValue) throws -> JSONValue
    ) async throws -> Response {
        let written = try await services.toggles.updateToggles(
            target.scope,
            in: request.network,
            by: target.writer,
            expected: EntityTag.condition(request.http.headers),
            change
        )
        guard let written else { throw Problem.preconditionFailed }
        return answer(target.scope, written)
    }

    /// The full document with `updatedAt`. It may be kept, as long as it is asked for again whether it still holds.
    private func answer(_ scope: ToggleScope, _ current: Versioned<JSONValue>) -> Response {
        .json(current.json(of: scope), headers: Self.headers(EntityTag.text(of: current.version)))
    }

    private static func headers(_ tag: String) -> HTTPFields { [.eTag: tag, .cacheControl: "private, no-cache"] }
}

extension Versioned<JSONValue> {
    /// The full document, with `updatedAt`.
    fileprivate func json(of scope: ToggleScope) -> JSONValue {
        guard case .object(let full) = scope.completed(document) else { return .null }
        return .object(JSONObject(joining: full, ["updatedAt": JSONValue(updatedAt)]))
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
