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

    func addRoutes(to routes: AblyRoutes) {
        routes.on(.post, "/push/channelSubscriptions", as: "subscribe", use: subscribe)
        routes.on(.get, "/push/channelSubscriptions", as: "list-subscriptions", readsPages: true, use: list)
        routes.on(.delete, "/push/channelSubscriptions", as: "unsubscribe", use: unsubscribe)
        routes.on(.get, "/push/channels", as: "list-channels", readsPages: true, use: listChannels)
    }

    private func subscribe(_ call: AblyCall) async throws -> Response {
        let wanted = try Self.subscription(try await call.object())
        try await require(call, toChange: wanted.subscriber, on: wanted.tag)
        guard call.caller.settings.pushIsOn(for: wanted.tag) else { throw AblyError.pushIsOff }
        let filter = SubscriptionFilter(tag: wanted.tag, subscribers: [wanted.subscriber])
        let former = try await services.tags.subscriptions(matching: filter, in: call.network, after: nil, limit: 1)
        if former.isEmpty {
            let isDone = try await services.tags.subscribe(
                wanted.subscriber,
                to: wanted.tag,
                in: call.network,
                ifOwnedBy: nil,
                by: call.caller.writer
            )
            guard isDone else { throw AblyError.unknownDevice }
        }
        return .ably(wanted.ablyJSON, status: former.isEmpty ? .created : .ok, to: call.request)
    }

    private func list(_ call: AblyCall) async throws -> Response {
        let filters = AblyFilters(call.request)
        let page = try AblyPage(call.request, parameters: ["channel", "deviceId", "clientId", "concatFilters"])
        let (device, client) = (try filters.device(), try filters.client())
        let isEither = try filters.flag("concatFilters")
        guard device == nil || client == nil || isEither else {
            throw AblyError.query("deviceId and clientId go together with concatFilters=true only")
        }
        let named = [device.map(Subscriber.device), client.map(Subscriber.user)].compactMap(\.self)
        let own = try await ownership(of: named, call)
        // Somebody's own are found among their own.
        let looked: [Subscriber]? = !named.isEmpty ? named : call.caller.isAdmin ? nil : own
        let found = try await services.tags.subscriptions(
            matching: SubscriptionFilter(tag: try filters.channel(), subscribers: looked),
            in: call.network,
            after: page.after { Subscription(ablyCursor: $0) },
            limit: page.limit + 1
        )
        return page.answer(found, key: \.ablyCursor, to: call.request) { found in
            Self.mayChange(found.tag, call.caller) ? found.ablyJSON : nil
        }
    }

    private func unsubscribe(_ call: AblyCall) async throws -> Response {
        let filters = AblyFilters(call.request)
        try filters.refuseAll(but: Self.filters)
        guard try filters.text("appId") ?? call.caller.appID == call.caller.appID else {
            throw AblyError.query("appId is another application's")
        }
        let (channel, device, client) = (try filters.channel(), try filters.device(), try filters.client())
        switch (channel, device, client) {
        case (_, _?, _?): throw AblyError.query("only one of deviceId and clientId can be given")
        case (nil, nil, nil): throw AblyError.query("channel, deviceId or clientId is needed")
        case (let channel?, nil, nil):
            try call.caller.require(.pushAdmin, on: channel.rawValue)
            try await services.tags.unsubscribeAll(from: channel, in: call.network)
        case (let channel, let device?, nil):
            try await unsubscribe(.device(device), from: channel, call)
        case (let channel, nil, let client?):
            try await unsubscribe(.user(client), from: channel, call)
        }
        return .noContent
    }

    private func unsubscribe(_ subscriber: Subscriber, from channel: TagID?, _ call: AblyCall) async throws {
        if let channel {
            try await require(call, toChange: subscriber, on: channel)
        } else {
            _ = try await ownership(of: [subscriber], call)
        }
        try await unsubscribeAll(SubscriptionFilter(tag: channel, subscribers: [subscriber]), for: call.caller)
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

    private func listChannels(_ call: AblyCall) async throws -> Response {
        try call.caller.require(.pushAdmin)
        let page = try AblyPage(call.request, parameters: [])
        let found = try await services.tags.subscribedTags(
            in: call.network,
            after: page.after { TagID($0) },
            limit: page.limit + 1
        )
        return page.answer(found, key: \.rawValue, to: call.request) { tag in
            call.caller.capability.allows(.pushAdmin, on: tag.rawValue) ? .string(tag.rawValue) : nil
        }
    }

    // MARK: Who may

    /// Passes those who may subscribe somebody to a channel, and end that.
    private func require(_ call: AblyCall, toChange subscriber: Subscriber, on channel: TagID) async throws {
        let caller = call.caller
        if caller.capability.allows(.pushAdmin, on: channel.rawValue) { return }
        try caller.require(.pushSubscribe, on: channel.rawValue)
        if caller.isAdmin {
            // Of other channels: here they are who they are.
            guard case .user(let client) = subscriber, caller.client == .named(client) || caller.client == .any else {
                throw AblyError.capability("push-admin is not allowed on this channel")
            }
            return
        }
        _ = try await ownership(of: [subscriber], call)
    }

    /// Passes those whose own these are, and those to whom everybody's are open.
    /// - Returns: Where none are named, what is the caller's own, so far as the request proves it.
    private func ownership(of named: [Subscriber], _ call: AblyCall) async throws -> [Subscriber] {
        let caller = call.caller
        guard !caller.isAdmin else { return [] }
        try caller.require(.pushSubscribe)
        var own: [Subscriber] = []
        for subscriber in named {
            switch subscriber {
            case .device(let id):
                let device = try await services.devices.device(id, in: call.network)
                try authenticator.require(call, isOrAdministers: id, device)
            case .user(let client):
                guard caller.client == .named(client) || caller.client == .any else {
                    throw AblyError.capability("push-admin is needed for other clients")
                }
            }
        }
        // What is named is looked for by its name.
        guard named.isEmpty else { return [] }
        if case .named(let client) = caller.client { own.append(.user(client)) }
        if let device = try await authenticator.provenDevice(by: call) { own.append(.device(device)) }
        return own
    }

    private static func mayChange(_ tag: TagID, _ caller: AblyCaller) -> Bool {
        caller.capability.allows(caller.isAdmin ? .pushAdmin : .pushSubscribe, on: tag.rawValue)
    }

    private static func subscription(_ body: JSONObject) throws(AblyError) -> Subscription {
        guard let channel = try body.ablyText("channel") else { throw .channel }
        let tag = try TagID(ablyChannel: channel)
        switch (try body.ablyText("deviceId"), try body.ablyText("clientId")) {
        case (let device?, nil):
            let id = try DeviceID(ablyDevice: device)
            // What came with a notification is no device that Ably's clients could know.
            guard !id.isOfAddress else { throw .unknownDevice }
            return Subscription(tag: tag, subscriber: .device(id))
        case (nil, let client?):
            return Subscription(tag: tag, subscriber: .user(try UserID(ablyClient: client)))
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
