import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// Devices (FACES section H2).
struct MobileFirstDeviceController: Sendable {
    let services: Services

    func addRoutes(to routes: MobileFirstRoutes) {
        let (all, one) = ("/devices", "/devices/{device}")
        routes.on(.post, all, as: "register device", for: .devicesWrite, use: register)
        routes.on(.get, all, as: "list devices", for: .devicesRead, query: nil, readsPages: true, use: list)
        routes.on(.get, one, as: "show device", for: .devicesRead, use: show)
        routes.on(.put, one, as: "update device", for: .devicesWrite, use: update)
        routes.on(.delete, one, as: "delete device", for: .devicesWrite, use: delete)
        // Android asks before it registers.
        routes.on(.get, "/settings/gcmConfPublic", as: "show sender", use: showSender)
    }

    private func register(_ caller: MobileFirstCaller) async throws -> Response {
        let body = try await RequestBodyReader.json(of: caller.request)
        let posted = try body.readForeign { reader -> (id: DeviceID, MobileFirstRegistration)? in
            let id = reader.identifier("deviceId", as: Device.self, required: true)
            let registration = MobileFirstRegistration(from: &reader, isWhole: true)
            return id.map { ($0, registration) }
        }
        return try await ChangedDevice.repeating {
            let former = try await services.devices.device(posted.id, in: caller.networkID)
            let owner = try caller.owner(
                posted.1.userID,
                former: former.map { caller.mayTouch($0) ? $0.userID : .nobody } ?? .nobody
            )
            return try await store(posted.1, posted.id, of: owner, former, caller, status: .created)
        }
    }

    private func update(_ caller: MobileFirstCaller) async throws -> Response {
        let body = try await RequestBodyReader.json(of: caller.request)
        let registration = try body.readForeign { MobileFirstRegistration(from: &$0, isWhole: false) }
        return try await ChangedDevice.repeating {
            let former = try await device(of: caller)
            let owner = try caller.owner(registration.userID, former: former.userID)
            // Who changes nothing of where it is reached does not get to see that, nor to have it.
            guard owner == former.userID || registration.token != nil || caller.kind == .backEnd else {
                throw Problem.mobileFirst(.wrongValue, "/token is required")
            }
            return try await store(registration, former.id, of: owner, former, caller, status: .ok)
        }
    }

    private func store(
        _ registration: MobileFirstRegistration,
        _ id: DeviceID,
        of owner: UserID,
        _ former: Device?,
        _ caller: MobileFirstCaller,
        status: HTTPResponse.Status
    ) async throws -> Response {
        // A phone's second owner inherits nothing of the first one.
        let ours = former.flatMap {
            caller.mayTouch($0) && caller.application.platform(of: $0.address) != nil ? $0 : nil
        }
        let now = services.clock.now()
        let reader = services.addressReader(for: caller.network)
        let device = Device(
            id: id,
            userID: owner,
            address: try registration.address(of: caller.application, former: ours?.address, reader),
            locale: ours?.locale,
            registeredAt: now,
            broadcasts: ours?.broadcasts ?? true,
            attributes: registration.attributes(of: ours, userAgent: caller.request.headers[.userAgent], at: now),
            secretHash: ours?.secretHash
        )
        guard !id.isOfAddress || id == DeviceID(reachedAt: device.address) else {
            throw Problem.mobileFirst(.wrongValue, "/deviceId is kept for the device at another address")
        }
        // An opt-out that comes in between is not undone.
        _ = try await services.devices.putDevice(
            device,
            replacing: .only(former),
            in: caller.networkID,
            by: caller.writer
        )
        let showsToken = registration.token != nil || caller.maySeeToken(of: former ?? device)
        guard let json = device.mobileFirst(in: caller.application, showsToken: showsToken) else {
            throw Problem.noDevice
        }
        return .json(.object(json), status: status)
    }

    private func show(_ caller: MobileFirstCaller) async throws -> Response {
        let device = try await device(of: caller)
        guard let json = device.mobileFirst(in: caller.application, showsToken: caller.maySeeToken(of: device)) else {
            throw Problem.noDevice
        }
        return .json(.object(json))
    }

    private func list(_ caller: MobileFirstCaller) async throws -> Response {
        let list = try MobileFirstList(caller, by: ["userId"], filtered: ["platform", "tagName"])
        var selection = try list.selection(for: caller)
        if let tag = selection.tag, MobileFirstMessage.isEveryone(tag.rawValue) {
            (selection.tag, selection.broadcasts) = (nil, true)
        }
        let page = try await services.devices.devices(
            selection,
            in: caller.networkID,
            offset: list.offset,
            limit: list.size
        )
        let items = page.items.compactMap { device in
            device.mobileFirst(in: caller.application, showsToken: caller.maySeeToken(of: device)).map(JSONValue.object)
        }
        return list.answer("devices", items, of: page.total)
    }

    private func delete(_ caller: MobileFirstCaller) async throws -> Response {
        let device = try await device(of: caller)
        let isGone = try await services.devices.deleteDevice(
            device.id,
            ifOwnedBy: device.userID,
            in: caller.networkID
        )
        guard isGone else { throw Problem.noDevice }
        return .noContent
    }

    private func showSender(_ caller: MobileFirstCaller) async throws -> Response {
        guard let sender = caller.application.senderID else {
            throw Problem.mobileFirst(.notConfigured, "the application has no senderId", status: .notFound)
        }
        return .json(["senderId": .string(sender)])
    }

    /// The device of the path, when it is one of the application's that the caller may see.
    private func device(of caller: MobileFirstCaller) async throws -> Device {
        try await services.device(try caller.context.identifier("device"), for: caller)
    }
}

extension Services {
    /// A device of the application that the caller may see.
    /// - Throws: 404 for any other: that is what makes an SDK register anew.
    func device(_ id: DeviceID, for caller: MobileFirstCaller) async throws -> Device {
        guard let device = try await devices.device(id, in: caller.networkID),
            caller.application.platform(of: device.address) != nil, caller.mayTouch(device)
        else { throw Problem.noDevice }
        return device
    }
}

extension MobileFirstList {
    /// Which devices a list is about. Apps list those of the user who is logged in.
    func selection(for caller: MobileFirstCaller) throws(Problem) -> DeviceSelection {
        var selection = DeviceSelection(apps: try apps(of: caller.application))
        selection.device = try id("deviceId")
        selection.owner = try id("userId")
        selection.tag = try id("tagName")
        guard caller.kind != .backEnd else { return selection }
        guard let user = caller.user, selection.owner ?? user == user else {
            throw .forbidden("apps list what belongs to the user who is logged in")
        }
        selection.owner = user
        return selection
    }

    /// The apps whose devices a list is about.
    func apps(of application: MobileFirstApplication) throws(Problem) -> [DeviceSelection.App] {
        guard let name = narrowed["platform"] else { return application.apps }
        guard let platform = MobileFirstApplication.Platform(rawValue: name) else {
            throw .mobileFirst(.wrongQuery, "platform must be A or G")
        }
        return application.apps.filter { $0.provider == platform.provider }
    }

    func id<Subject>(_ name: String, as type: Subject.Type = Subject.self) throws(Problem) -> Identifier<Subject>? {
        guard let text = narrowed[name] else { return nil }
        guard let id = Identifier<Subject>(text) else {
            throw .mobileFirst(.wrongQuery, "\(name) must be 1 to 256 bytes without control characters")
        }
        return id
    }
}
