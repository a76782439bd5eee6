import CarillonCore
import CarillonTesting
import Testing

extension FeedbackPortTests {
    @Test func `what becomes of devices is told with its reason, and nothing else`() async throws {
        try await scene.addObserver(of: ["device.*"])
        func put(_ id: DeviceID, _ user: UserID, _ token: String, by writer: Writer = .admin) async throws -> Device {
            let device = Device(id, of: user, .fcm(token: token, appID: "app"), at: .seconds(0))
            _ = try await scene.devices.putDevice(device, in: scene.network, by: writer)
            return device
        }
        _ = try await put("d-1", "u", "secret-1")
        #expect(try await scene.news() == ["device.registered d-1 u new fcm/app"])
        _ = try await put("d-1", "u", "secret-1")
        #expect(try await scene.news() == [], "registered again as it is, as apps do when they start")
        _ = try await put("d-1", "u", "secret-2", by: .user)
        #expect(try await scene.news() == ["device.registered d-1 u changed fcm/app"])
        _ = try await put("d-1", "v", "secret-2")
        #expect(try await scene.news() == ["device.registered d-1 v moved from u fcm/app"])
        let device = try await put("d-2", "v", "secret-2")
        #expect(
            try await scene.news() == ["device.deleted d-1 v replaced fcm/app", "device.registered d-2 v new fcm/app"]
        )
        for (effect, word) in [
            (DeviceEffect.quarantine(ifRegisteredBefore: .seconds(60), error: "MismatchSenderId"), "quarantined"),
            (.unregister(ifRegisteredBefore: .seconds(60), error: "UNREGISTERED"), "unregistered"),
        ] {
            _ = try await scene.enqueue(to: [[Target(device)]])
            let groups = try await scene.claim().map(\.group).filter { $0.relayKey == nil }
            _ = try await scene.queue.settle(groups.map { .all($0, .unregistered, effect: effect) })
            let error = word == "unregistered" ? "UNREGISTERED" : "MismatchSenderId"
            #expect(try await scene.news() == ["device.\(word) d-2 v \(error) fcm/app"])
            _ = try await put("d-2", "v", "secret-2")
            #expect(try await scene.news() == ["device.registered d-2 v returned fcm/app"])
        }
        try await putOutOfUse(device, scene)
        #expect(try await scene.news() == ["device.quarantined d-2 v why fcm/app"])
        let restored = try await scene.devices.restoreDevices(
            .fcm,
            appID: nil,
            since: .seconds(0),
            until: WallClock.system.now() + .seconds(60),
            in: scene.network
        )
        #expect(restored == 1)
        #expect(try await scene.news() == ["device.registered d-2 v restored fcm/app"])
        #expect(try await scene.devices.deleteDevice("d-2", ifOwnedBy: "u", in: scene.network) == false)
        #expect(try await scene.devices.deleteDevice("d-2", ifOwnedBy: "v", in: scene.network))
        #expect(try await scene.news() == ["device.deleted d-2 v deleted fcm/app"])
    }

    private func putOutOfUse(_ device: Device, _ scene: StoreScene) async throws {
        _ = try await scene.enqueue(to: [[Target(device)]])
        let groups = try await scene.claim().map(\.group).filter { $0.relayKey == nil }
        let effect = DeviceEffect.quarantine(ifRegisteredBefore: .seconds(60), error: "why")
        _ = try await scene.queue.settle(groups.map { .all($0, .dead, effect: effect) })
    }

    @Test func `what is imported is told of, and the other network of nothing`() async throws {
        try await scene.addObserver(of: ["device.registered", "subscription.created"])
        let devices = (1...501).map { Device.log(DeviceID(trusted: "d-\($0)"), of: "u") }
        let subscriptions = [ImportRecord.subscription(.device("d-7"), "news"), .subscription(.user("u"), "news")]
        for network in [scene.network, scene.otherNetwork] {
            try await scene.importing([devices.map(ImportRecord.device), subscriptions], in: network)
        }
        let told = try await scene.told()
        #expect(told.filter { $0.type == "subscription.created" }.flatMap(\.news).count == 2)
        let registered = told.filter { $0.type == "device.registered" }.flatMap(\.news)
        #expect(Set(registered).count == 501 && registered.count == 501)
        #expect(told.allSatisfy { $0.news.count <= 500 })
    }

    @Test func `subscriptions are told of when they begin and end`() async throws {
        try await scene.addObserver(of: ["subscription.*"])
        _ = try await scene.devices.putDevice(.log("d", of: "u"), in: scene.network)
        for _ in 0..<2 {
            for subscriber in [Subscriber.device("d"), .user("u"), .device("unknown")] {
                _ = try await scene.tags.subscribe(
                    subscriber,
                    to: "news",
                    in: scene.network,
                    ifOwnedBy: nil,
                    by: .admin
                )
            }
        }
        #expect(try await scene.news() == ["subscription.created news device d", "subscription.created news user u"])
        for _ in 0..<2 {
            try await scene.tags.unsubscribe(.device("d"), from: "news", in: scene.network, ifOwnedBy: "u")
        }
        #expect(try await scene.news() == ["subscription.deleted news device d unsubscribed"])
        try await scene.tags.deleteTag("news", in: scene.network)
        try await scene.passTime()
        #expect(try await scene.news() == ["subscription.deleted news user u tag deleted"])
    }
}

extension StoreScene {
    /// Adds an endpoint that is told of these types.
    fileprivate func addObserver(of events: [String]) async throws {
        try await endpoints.addEndpoint(.sample("e-1", .observing, events), to: network)
    }

    /// What the endpoint is told since it was asked last, each piece of news in a line, in their order.
    fileprivate func news() async throws -> [String] {
        try await told().flatMap { told in told.news.map { "\(told.type) \($0)" } }
    }

    /// The messages that the endpoint is told since it was asked last; takes them.
    fileprivate func told() async throws -> [(type: String, news: [String])] {
        let groups = try await claim().map(\.group).filter { $0.relayKey != nil }
            .sorted { $0.cause.eventID < $1.cause.eventID }
        let bodies = try await messages.relayMessages(groups.compactMap(\.relayKey))
        _ = try await queue.settle(groups.map { .all($0, .delivered) })
        return try groups.map { group in
            guard let key = group.relayKey, let message = bodies[key], let body = message.body,
                case .object(let members) = try JSONValue(parsing: body),
                let type = members["type"]?.text, case .object(let data)? = members["data"],
                case .array(let list)? = data["devices"] ?? data["subscriptions"]
            else { throw UnexpectedAnswer() }
            #expect(!String(decoding: body, as: UTF8.self).contains("secret"))
            return (type, list.map(\.line))
        }
    }
}

extension JSONValue {
    fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }

    /// A piece of news in words.
    fileprivate var line: String {
        guard case .object(let news) = self else { return "" }
        var words = ["tag"].compactMap { news[$0]?.text }
        for kind in ["device", "user"] {
            guard let id = news["\(kind)Id"]?.text else { continue }
            words += news["tag"] == nil ? [id] : [kind, id]
        }
        if let reason = news["reason"]?.text { words.append(reason) }
        if let former = news["formerUserId"]?.text { words += ["from", former] }
        if let provider = news["provider"]?.text {
            words.append("\(provider)/\(news["appId"]?.text ?? "")")
        }
        return words.joined(separator: " ")
    }
}
