import CarillonCore
import CarillonEdge
import Hummingbird

/// What devices subscribe to (FACES section H2).
struct MobileFirstSubscriptionController: Sendable {
    private static let maximumTags = 100

    let services: Services

    func addRoutes(to routes: MobileFirstRoutes) {
        let (all, one) = ("/subscriptions", "/subscriptions/{subscription}")
        let (read, write) = (MobileFirstScope.subscriptionsRead, MobileFirstScope.subscriptionsWrite)
        let names = ["deviceId", "tagName", "locale"]
        routes.on(.post, all, as: "subscribe", for: write, query: ["action", "locale"], use: post)
        routes.on(.get, all, as: "list subscriptions", for: read, query: nil, readsPages: true, use: list)
        routes.on(.delete, all, as: "unsubscribe", for: write, query: names, use: deleteNamed)
        routes.on(.get, one, as: "show subscription", for: read, use: show)
        routes.on(.delete, one, as: "unsubscribe", for: write, use: delete)
    }

    /// What a device is to subscribe to, or not any more.
    private struct Posted {
        var device: DeviceID
        var tags: [TagID]
        var isList: Bool
    }

    private func post(_ caller: MobileFirstCaller) async throws -> Response {
        let action = try QueryParameters(caller.request).text("action")
        guard action == nil || action == "delete" else {
            throw Problem.mobileFirst(.wrongQuery, "action must be delete")
        }
        let posted = try await posted(caller.request)
        let device = try await services.device(posted.device, for: caller)
        if action != nil {
            for tag in posted.tags { _ = try await end(tag, of: device, caller) }
            return .noContent
        }
        return posted.isList
            ? try await subscribe(device, to: posted.tags, caller)
            : try await subscribe(device, to: posted.tags[0], caller)
    }

    private func posted(_ request: Request) async throws -> Posted {
        try await RequestBodyReader.json(of: request).readForeign { reader -> Posted? in
            let device = reader.identifier("deviceId", as: Device.self, required: true)
            let isList = reader.contains("tagNames") && !reader.isNull("tagNames")
            var tags: [TagID]?
            if isList {
                tags = reader.identifiers("tagNames", as: Tag.self, maximumCount: Self.maximumTags)
                if tags?.isEmpty == true { reader.refuse("tagNames", "must not be empty") }
            } else {
                tags = reader.identifier("tagName", as: Tag.self, required: true).map { [$0] }
            }
            guard let device, let tags, !tags.isEmpty else { return nil }
            return Posted(device: device, tags: tags, isList: isList)
        }
    }

    private func subscribe(_ device: Device, to tag: TagID, _ caller: MobileFirstCaller) async throws -> Response {
        switch try await begin(tag, of: device, caller) {
        case .begun: return .json(subscription(device.id, tag), status: .created)
        case .exists: throw Problem.mobileFirst(.subscriptionExists, "the device subscribes to this tag already")
        case .unknownTag: throw Problem.mobileFirst(.notFound, "there is no such tag")
        }
    }

    private func subscribe(_ device: Device, to tags: [TagID], _ caller: MobileFirstCaller) async throws -> Response {
        var results: [Beginning: [String]] = [:]
        for tag in tags { results[try await begin(tag, of: device, caller), default: []].append(tag.rawValue) }
        return .json([
            "subscribed": JSONValue(results[.begun] ?? []),
            "subscriptionExists": JSONValue(results[.exists] ?? []),
            "tagsNotFound": [
                "tags": JSONValue(results[.unknownTag] ?? []), "code": .string(MobileFirstCode.notFound.rawValue),
                "message": "there are no such tags",
            ],
        ])
    }

    private enum Beginning {
        case begun, exists, unknownTag
    }

    private func begin(_ tag: TagID, of device: Device, _ caller: MobileFirstCaller) async throws -> Beginning {
        if MobileFirstMessage.isEveryone(tag.rawValue) {
            let isOn = try await isSubscribed(device.id, to: tag, caller)
            if !isOn { try await setBroadcasts(true, of: device, caller) }
            return isOn ? .exists : .begun
        }
        guard try await services.tags.tag(tag, in: caller.networkID) != nil else { return .unknownTag }
        guard try await !isSubscribed(device.id, to: tag, caller) else { return .exists }
        let isDone = try await services.tags.subscribe(
            .device(device.id),
            to: tag,
            in: caller.networkID,
            ifOwnedBy: device.userID,
            by: caller.writer
        )
        guard isDone else { throw Problem.noDevice }
        return .begun
    }

    /// Ends a subscription; `false` when there is none.
    private func end(_ tag: TagID, of device: Device, _ caller: MobileFirstCaller) async throws -> Bool {
        guard try await isSubscribed(device.id, to: tag, caller) else { return false }
        if MobileFirstMessage.isEveryone(tag.rawValue) {
            try await setBroadcasts(false, of: device, caller)
        } else {
            try await services.tags.unsubscribe(
                .device(device.id),
                from: tag,
                in: caller.networkID,
                ifOwnedBy: device.userID
            )
        }
        return true
    }

    private func setBroadcasts(_ takesPart: Bool, of device: Device, _ caller: MobileFirstCaller) async throws {
        let isDone = try await services.devices.setBroadcasts(
            takesPart,
            of: device.id,
            ifOwnedBy: device.userID,
            in: caller.networkID
        )
        guard isDone else { throw Problem.noDevice }
    }

    private func isSubscribed(_ device: DeviceID, to tag: TagID, _ caller: MobileFirstCaller) async throws -> Bool {
        if MobileFirstMessage.isEveryone(tag.rawValue) {
            return try await services.devices.device(device, in: caller.networkID)?.broadcasts == true
        }
        let selection = DeviceSelection(apps: caller.application.apps, device: device, tag: tag)
        return try await services.tags.subscriptions(of: selection, in: caller.networkID, offset: 0, limit: 1).total > 0
    }

    // MARK: Deleting

    private func deleteNamed(_ caller: MobileFirstCaller) async throws -> Response {
        let query = QueryParameters(caller.request)
        guard let device = try query.identifier("deviceId", as: Device.self),
            let tag = try query.identifier("tagName", as: Tag.self)
        else { throw Problem.mobileFirst(.incompleteQuery, "deviceId and tagName are both required") }
        return try await delete(device, tag, caller)
    }

    private func delete(_ caller: MobileFirstCaller) async throws -> Response {
        let (device, tag) = try Self.parts(of: caller)
        return try await delete(device, tag, caller)
    }

    private func delete(_ id: DeviceID, _ tag: TagID, _ caller: MobileFirstCaller) async throws -> Response {
        let device = try await services.device(id, for: caller)
        guard try await end(tag, of: device, caller) else { throw Self.missing }
        return .noContent
    }

    private static let missing = Problem.mobileFirst(.noSubscription, "there is no such subscription")

    // MARK: Reading

    private func show(_ caller: MobileFirstCaller) async throws -> Response {
        let (id, tag) = try Self.parts(of: caller)
        let device = try await services.device(id, for: caller)
        guard try await isSubscribed(device.id, to: tag, caller) else { throw Self.missing }
        return .json(subscription(device.id, tag))
    }

    /// Lists subscriptions; every device that gets what is sent to everyone stands at the beginning, with `Push.ALL`.
    private func list(_ caller: MobileFirstCaller) async throws -> Response {
        let list = try MobileFirstList(caller, by: ["deviceId", "tagName", "userId"], filtered: ["platform"])
        let selection = try await selection(list, for: caller)
        let wantsEveryone = selection.tag.map { MobileFirstMessage.isEveryone($0.rawValue) }
        var items: [JSONValue] = []
        var total = 0
        if wantsEveryone != false {
            var broadcasts = selection
            (broadcasts.tag, broadcasts.broadcasts) = (nil, true)
            let page = try await services.devices.devices(
                broadcasts,
                in: caller.networkID,
                offset: list.offset,
                limit: list.size
            )
            items = page.items.map { subscription($0.id, TagID(trusted: MobileFirstMessage.everyone)) }
            total = page.total
        }
        if wantsEveryone != true {
            let page = try await services.tags.subscriptions(
                of: selection,
                in: caller.networkID,
                offset: max(0, list.offset - total),
                limit: list.size - items.count
            )
            items += page.items.map { subscription($0.device, $0.tag) }
            total += page.total
        }
        return list.answer("subscriptions", items, of: min(total, CountedPage<Device>.maximumTotal))
    }

    /// Apps list what a device of theirs subscribes to, which they name, or what their user's devices do.
    private func selection(_ list: MobileFirstList, for caller: MobileFirstCaller) async throws -> DeviceSelection {
        guard caller.kind != .backEnd, list.narrowed["userId"] == nil, let id = try list.id("deviceId", as: Device.self)
        else { return try list.selection(for: caller) }
        var selection = DeviceSelection(apps: try list.apps(of: caller.application), device: id)
        selection.tag = try list.id("tagName")
        _ = try await services.device(id, for: caller)
        return selection
    }

    private func subscription(_ device: DeviceID, _ tag: TagID) -> JSONValue {
        ["deviceId": .string(device.rawValue), "tagName": .string(tag.rawValue)]
    }

    /// Device and tag of a subscription's id: base64url of both with U+0000 between them.
    private static func parts(of caller: MobileFirstCaller) throws(Problem) -> (DeviceID, TagID) {
        let text = try caller.context.segment("subscription")
        guard let bytes = Base64URL.decode(text.utf8), let split = bytes.firstIndex(of: 0),
            let device = String(validating: bytes[..<split], as: UTF8.self).flatMap(DeviceID.init),
            let tag = String(validating: bytes[(split + 1)...], as: UTF8.self).flatMap(TagID.init)
        else { throw missing }
        return (device, tag)
    }
}
