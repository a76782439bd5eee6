import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// `/push/channelSubscriptions` and `/push/channels` (FACES E5): a channel is a tag, and subscribing makes nobody a member.
struct AblySubscriptionController: Sendable {
    private static let filters: Set<String> = ["channel", "deviceId", "clientId", "appId"]
    private static let batchSize = 500

    let services: Services
    let authenticator: AblyAuthenticator

    func addRoutes(to routes: FaceRoutes) {
        routes.on(.post, "/push/channelSubscriptions", as: "subscribe", use: subscribe)
        routes.on(.get, "/push/channelSubscriptions", as: "list-subscriptions", readsPages: true, use: list)
        routes.on(.delete, "/push/channelSubscriptions", as: "unsubscribe", use: unsubscribe)
        routes.on(.get, "/push/channels", as: "list-channels", readsPages: true, use: listChannels)
    }

    private func subscribe(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let caller = try await authenticator.caller(request, context)
        let body = try await AblyBody.object(of: request)
        let wanted = try Self.subscription(body)
        try await require(caller, toChange: wanted.subscriber, on: wanted.tag, request)
        guard caller.settings.pushIsOn(for: wanted.tag) else { throw AblyError.pushIsOff }
        let filter = SubscriptionFilter(tag: wanted.tag, subscribers: [wanted.subscriber])
        let network = caller.network.id
        let former = try await services.tags.subscriptions(matching: filter, in: network, after: nil, limit: 1)
        if former.isEmpty {
            let isDone = try await services.tags.subscribe(
                wanted.subscriber,
                to: wanted.tag,
                in: network,
                ifOwnedBy: nil,
                by: caller.writer
            )
            guard isDone else { throw AblyError.unknownDevice }
        }
        return .ably(wanted.ablyJSON, status: former.isEmpty ? .created : .ok, to: request)
    }

    private func list(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let caller = try await authenticator.caller(request, context)
        let filters = AblyFilters(request)
        let page = try AblyPage(request, parameters: ["channel", "deviceId", "clientId", "concatFilters"])
        let (device, client) = (try filters.device(), try filters.client())
        let isEither = try filters.flag("concatFilters")
        guard device == nil || client == nil || isEither else {
            throw AblyError.query("deviceId and clientId go together with concatFilters=true only")
        }
        var named: [Subscriber] = []
        if let device { named.append(.device(device)) }
        if let client { named.append(.user(client)) }
        let own = try await ownership(of: named, by: caller, request)
        let filter = SubscriptionFilter(tag: try filters.channel(), subscribers: named.isEmpty ? nil : named)
        // Somebody's own are found among their own.
        let looked = filter.subscribers == nil && !caller.isAdmin ? own : filter.subscribers
        let found = try await services.tags.subscriptions(
            matching: SubscriptionFilter(tag: filter.tag, subscribers: looked),
            in: caller.network.id,
            after: page.after { Subscription(ablyCursor: $0) },
            limit: page.limit + 1
        )
        return page.answer(found, key: \.ablyCursor, to: request) { Self.mayChange($0.tag, caller) ? $0.ablyJSON : nil }
    }

    private func unsubscribe(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let caller = try await authenticator.caller(request, context)
        let filters = AblyFilters(request)
        try filters.refuseAll(but: Self.filters)
        guard try filters.text("appId") ?? caller.appID == caller.appID else {
            throw AblyError.query("appId is another application's")
        }
        let (channel, device, client) = (try filters.channel(), try filters.device(), try filters.client())
        switch (channel, device, client) {
        case (_, _?, _?): throw AblyError.query("only one of deviceId and clientId can be given")
        case (nil, nil, nil): throw AblyError.query("channel, deviceId or clientId is needed")
        case (let channel?, nil, nil):
            try caller.require(.pushAdmin, on: channel.rawValue)
            try await services.tags.unsubscribeAll(from: channel, in: caller.network.id)
        case (let channel, let device?, nil):
            try await unsubscribe(.device(device), from: channel, for: caller, request)
        case (let channel, nil, let client?):
            try await unsubscribe(.user(client), from: channel, for: caller, request)
        }
        return .noContent
    }

    private func unsubscribe(
        _ subscriber: Subscriber,
        from channel: TagID?,
        for caller: AblyCaller,
        _ request: Request
    ) async throws {
        if let channel {
            try await require(caller, toChange: subscriber, on: channel, request)
        } else {
            _ = try await ownership(of: [subscriber], by: caller, request)
        }
        try await unsubscribeAll(SubscriptionFilter(tag: channel, subscribers: [subscriber]), for: caller)
    }

    /// Ends the subscriptions that a filter lets through, on channels where the caller may.
    private func unsubscribeAll(_ filter: SubscriptionFilter, for caller: AblyCaller) async throws {
        let network = caller.network.id
        var last: Subscription?
        while true {
            let found = try await services.tags.subscriptions(
                matching: filter,
                in: network,
                after: last,
                limit: Self.batchSize
            )
            try await services.tags.unsubscribe(found.filter { Self.mayChange($0.tag, caller) }, in: network)
            guard found.count == Self.batchSize else { return }
            last = found.last
        }
    }

    private func listChannels(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let caller = try await authenticator.caller(request, context)
        try caller.require(.pushAdmin)
        let page = try AblyPage(request, parameters: [])
        let found = try await services.tags.subscribedTags(
            in: caller.network.id,
            after: page.after { TagID($0) },
            limit: page.limit + 1
        )
        return page.answer(found, key: \.rawValue, to: request) { tag in
            caller.capability.allows(.pushAdmin, on: tag.rawValue) ? .string(tag.rawValue) : nil
        }
    }

    // MARK: Who may

    /// Passes those who may subscribe somebody to a channel, and end that.
    private func require(
        _ caller: AblyCaller,
        toChange subscriber: Subscriber,
        on channel: TagID,
        _ request: Request
    ) async throws {
        if caller.capability.allows(.pushAdmin, on: channel.rawValue) { return }
        try caller.require(.pushSubscribe, on: channel.rawValue)
        if caller.isAdmin {
            // Of other channels: here they are who they are.
            guard case .user(let client) = subscriber, caller.client == .named(client) || caller.client == .any else {
                throw AblyError.capability("push-admin is not allowed on this channel")
            }
            return
        }
        _ = try await ownership(of: [subscriber], by: caller, request)
    }

    /// Passes those whose own these are, and those to whom everybody's are open.
    /// - Returns: Where none are named, what is the caller's own, so far as the request proves it.
    private func ownership(
        of named: [Subscriber],
        by caller: AblyCaller,
        _ request: Request
    ) async throws -> [Subscriber] {
        guard !caller.isAdmin else { return [] }
        try caller.require(.pushSubscribe)
        var own: [Subscriber] = []
        for subscriber in named {
            switch subscriber {
            case .device(let id):
                let device = try await services.devices.device(id, in: caller.network.id)
                try authenticator.require(caller, isOrAdministers: id, device, request)
            case .user(let client):
                guard caller.client == .named(client) || caller.client == .any else {
                    throw AblyError.capability("push-admin is needed for other clients")
                }
            }
        }
        // What is named is looked for by its name.
        guard named.isEmpty else { return [] }
        if case .named(let client) = caller.client { own.append(.user(client)) }
        if let device = try await authenticator.provenDevice(by: caller, request) { own.append(.device(device)) }
        return own
    }

    private static func mayChange(_ tag: TagID, _ caller: AblyCaller) -> Bool {
        caller.capability.allows(caller.isAdmin ? .pushAdmin : .pushSubscribe, on: tag.rawValue)
    }

    private static func subscription(_ body: JSONObject) throws(AblyError) -> Subscription {
        guard let channel = try body.ablyText("channel", else: AblyError.body) else { throw .channel }
        let tag = try TagID(ablyChannel: channel)
        switch (
            try body.ablyText("deviceId", else: AblyError.body), try body.ablyText("clientId", else: AblyError.body)
        ) {
        case (let device?, nil):
            guard let id = DeviceID(device) else { throw .device }
            // What came with a notification is no device that Ably's clients could know.
            guard !id.isOfAddress else { throw .unknownDevice }
            return Subscription(tag: tag, subscriber: .device(id))
        case (nil, let client?):
            guard let id = UserID(client), !id.isReserved, client != "*" else { throw .client }
            return Subscription(tag: tag, subscriber: .user(id))
        default: throw .malformed("exactly one of deviceId and clientId is needed")
        }
    }
}

extension Subscription {
    var ablyJSON: JSONValue {
        let key = subscriber.kind == .device ? "deviceId" : "clientId"
        return ["channel": .string(tag.rawValue), key: .string(subscriber.id)]
    }

    /// What a cursor stands for: ids hold no control character.
    var ablyCursor: String { "\(tag.rawValue)\n\(subscriber.kind.rawValue)\n\(subscriber.id)" }

    init?(ablyCursor text: String) {
        let parts = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let tag = TagID(parts[0]), let kind = Subscriber.Kind(rawValue: parts[1]),
            UserID(parts[2]) != nil
        else { return nil }
        self.init(tag: tag, subscriber: Subscriber(kind, trusted: parts[2]))
    }
}
