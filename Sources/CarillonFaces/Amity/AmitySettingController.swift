import CarillonCore
import CarillonEdge
import Hummingbird

/// The three levels of settings, as Amity's SDKs and its admins' servers ask for them.
struct AmitySettingController: Sendable {
    static let userPath = "/api/v3/notification/setting"
    static let adminPath = "/admin/v1/notification/setting"

    let services: Services
    let callers: AmityCallers

    private var templates: AmityTemplates { AmityTemplates(services: services) }

    func addRoutes(to routes: FaceRoutes) {
        routes.on(.get, RouterPath(Self.userPath), as: "read settings", use: show)
        routes.on(.post, RouterPath(Self.userPath), as: "change settings", use: change)
        routes.on(.get, RouterPath(Self.adminPath), as: "read network settings", use: showNetwork)
        routes.on(.post, RouterPath(Self.adminPath), as: "change network settings", use: changeNetwork)
    }

    private func show(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let user = try await callers.user(request, context)
        let query = QueryParameters(request)
        let channel: ChannelID?
        switch try AmityLevel(query.text("level")) {
        case .user: channel = nil
        case .channel:
            guard let named = try query.identifier("channelId", as: Channel.self) else {
                throw Problem.invalidBody("channelId is required")
            }
            channel = named
        case .network: throw Problem.forbidden("the network's settings are for its admins")
        }
        let documents = try await services.toggles.toggles(for: user.id, channel: channel, in: user.app.network.id)
        let own = UserToggles(document: documents.user.document)
        guard channel != nil else { return .json(own.amity) }
        return .json(ChannelToggles(document: documents.channel.document).amity(of: own))
    }

    private func change(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let user = try await callers.user(request, context)
        let body = try await RequestBodyReader.json(of: request)
        switch try AmityLevel(in: body) {
        case .user:
            let change = try AmityUserChange(body)
            try await write(.user(user.id), in: user.app.network.id, by: .user) { document in
                var toggles = UserToggles(document: document)
                change.apply(to: &toggles)
                return toggles.document
            }
        case .channel:
            let change = try AmityChannelChange(body)
            try await write(.channel(user.id, change.channel), in: user.app.network.id, by: .user) { document in
                var toggles = ChannelToggles(document: document)
                toggles.enabled = change.isEnabled ?? toggles.enabled
                return toggles.document
            }
        case .network: throw Problem.forbidden("the network's settings are for its admins")
        }
        return AmityAnswer.changed
    }

    private func showNetwork(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let network = try await callers.admin(request, context)
        try Self.requireNetwork(AmityLevel(QueryParameters(request).text("level") ?? AmityLevel.network.rawValue))
        let document = try await services.toggles.toggles(.network, in: network.id).document
        let texts = try await templates.texts(of: network)
        return .json(NetworkToggles(document: document).amity(texts))
    }

    private func changeNetwork(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let network = try await callers.admin(request, context)
        let body = try await RequestBodyReader.json(of: request)
        try Self.requireNetwork(AmityLevel(in: body, unless: .network))
        let change = try AmityNetworkChange(body)
        try await templates.write(change.events, in: network)
        try await write(.network, in: network.id, by: .admin) { document in
            var toggles = NetworkToggles(document: document)
            change.apply(to: &toggles)
            return toggles.document
        }
        return AmityAnswer.changed
    }

    private static func requireNetwork(_ level: AmityLevel) throws(Problem) {
        guard level == .network else { throw .invalidBody("level must be network here: users change their own") }
    }

    private func write(
        _ scope: ToggleScope,
        in network: NetworkID,
        by writer: Writer,
        _ change: @escaping @Sendable (JSONValue) throws -> JSONValue
    ) async throws {
        _ = try await services.toggles.updateToggles(scope, in: network, by: writer, expected: nil, change)
    }
}

enum AmityLevel: String, CaseIterable {
    case user
    case channel
    case network

    /// Reads a level.
    /// - Throws: 404 for a community, of which there are none here, and 400 for anything else that is no level.
    init(_ text: String?) throws(Problem) {
        guard let text else { throw .invalidBody("level is required") }
        guard text != "community" else { throw .notFound("there are no communities here") }
        guard let level = Self(rawValue: text) else { throw .invalidBody("level must be user, channel or network") }
        self = level
    }

    /// Reads the level of a body, which may leave out the only one that a route has.
    init(in body: JSONValue, unless usual: AmityLevel? = nil) throws {
        let text = try body.readForeign { reader -> String?? in
            .some(reader.string("level", required: usual == nil))
        }
        self = try Self(text ?? usual?.rawValue)
    }
}
