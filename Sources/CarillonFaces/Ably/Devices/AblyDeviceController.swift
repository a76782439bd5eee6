import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird
import NIOCore

/// `/push/deviceRegistrations` (FACES E4).
struct AblyDeviceController: Sendable {
    private static let filters: Set<String> = ["deviceId", "clientId"]

    let services: Services
    let authenticator: AblyAuthenticator

    func addRoutes(to routes: AblyRoutes) {
        let list: RouterPath = "/push/deviceRegistrations"
        let device: RouterPath = "/push/deviceRegistrations/{device}"
        let resetting: RouterPath = "/push/deviceRegistrations/{device}/resetUpdateToken"
        routes.on(.post, list, as: "register", use: register)
        routes.on(.get, list, as: "list-devices", readsPages: true, use: self.list)
        routes.on(.patch, list, as: "change-device", use: change)
        routes.on(.delete, list, as: "remove-devices", use: removeWhere)
        routes.on(.put, device, as: "save-device", use: save)
        routes.on(.patch, device, as: "change-device", use: change)
        routes.on(.get, device, as: "show-device", use: show)
        routes.on(.delete, device, as: "remove-device", use: remove)
        routes.on(.post, resetting, as: "reset-token", use: resetUpdateToken)
        routes.on(.get, "/push/publicVapidKey", as: "vapid-key", use: showPublicKey)
    }

    // MARK: Registering

    private func register(_ call: AblyCall) async throws -> Response {
        let body = try AblyDeviceBody(try await call.object())
        guard let id = body.id else { throw AblyError.device }
        let (device, isNew) = try await ChangedDevice.repeating { try await put(id, body, call) }
        var json = device.ablyJSON(withRecipient: true)
        json["deviceIdentityToken"] = .object(token(of: device, for: call.caller))
        return .ably(.object(json), status: isNew ? .created : .ok, to: call.request)
    }

    private func save(_ call: AblyCall) async throws -> Response {
        let id = try Self.deviceID(call)
        let body = try AblyDeviceBody(try await call.object())
        guard body.id ?? id == id else { throw AblyError.device }
        let (device, _) = try await ChangedDevice.repeating { try await put(id, body, call) }
        return .ably(.object(device.ablyJSON(withRecipient: true)), to: call.request)
    }

    private func put(
        _ id: DeviceID,
        _ body: AblyDeviceBody,
        _ call: AblyCall
    ) async throws -> (device: Device, isNew: Bool) {
        guard !id.isOfAddress else { throw AblyError.device }
        let caller = call.caller
        let known = try await services.devices.device(id, in: call.network)
        // What is reached in ways that Ably has no name for is nobody's to take from here.
        guard known.map({ AblyDevice.providers.contains($0.address.provider) }) ?? true else { throw AblyError.device }
        if !caller.isAdmin {
            try caller.require(.pushSubscribe)
            guard body.secret != nil || known != nil else { throw AblyError.body("deviceSecret is required") }
            if let known, !AblyAuthenticator.isSecret(body.secret, of: known),
                authenticator.proof(by: call, of: id, known) != .right
            {
                throw AblyError.credentials("the device is known, and its secret is another one")
            }
            if let own = caller.device, own.deviceID != id || known == nil {
                throw AblyError.credentials("the token is another device's, or its device is gone")
            }
        }
        if let state = body.state, state != known?.ablyState ?? "ACTIVE" {
            throw AblyError.malformed("push.state is not what the device's state is")
        }
        if let text = body.updateToken {
            guard let known, authenticator.deviceToken(text, in: call.network)?.isOf(known) == true else {
                throw AblyError.malformed("updateToken is not the device's")
            }
        }
        let device = try registration(by: caller).device(id, body, replacing: known)
        return (device, try await store(device, replacing: known, by: caller))
    }

    private func change(_ call: AblyCall) async throws -> Response {
        let body = try AblyDeviceBody(try await call.object())
        let named = call.context.parameters.get("device") == nil ? nil : try Self.deviceID(call)
        guard let id = named ?? body.id, body.id ?? id == id else { throw AblyError.device }
        let device = try await ChangedDevice.repeating {
            let known = try await self.device(id, for: call)
            let device = try registration(by: call.caller).device(changing: known, body)
            _ = try await store(device, replacing: known, by: call.caller)
            return device
        }
        return .ably(.object(device.ablyJSON(withRecipient: true)), to: call.request)
    }

    private func resetUpdateToken(_ call: AblyCall) async throws -> Response {
        let device = try await device(try Self.deviceID(call), for: call)
        var json = device.ablyJSON(withRecipient: true)
        json["updateToken"] = token(of: device, for: call.caller)["token"]
        return .ably(.object(json), to: call.request)
    }

    private func registration(by caller: AblyCaller) -> AblyRegistration {
        AblyRegistration(
            caller: caller,
            addresses: services.addressReader(for: caller.network),
            now: services.clock.now()
        )
    }

    /// Stores a device in the place of the one that it was made of and the caller was judged by: what subscribes is the device, whoever
    /// its client is.
    private func store(_ device: Device, replacing known: Device?, by caller: AblyCaller) async throws -> Bool {
        try await services.devices.putDevice(
            device,
            replacing: .same(as: known),
            in: caller.network.id,
            by: caller.writer
        )
    }

    private func token(of device: Device, for caller: AblyCaller) -> JSONObject {
        AblyDeviceToken.details(of: device, for: caller, secret: services.faceSecret, now: services.clock.now())
    }

    // MARK: Reading

    private func show(_ call: AblyCall) async throws -> Response {
        let device = try await device(try Self.deviceID(call), for: call)
        return .ably(.object(device.ablyJSON(withRecipient: true)), to: call.request)
    }

    private func list(_ call: AblyCall) async throws -> Response {
        let filters = AblyFilters(call.request)
        let page = try AblyPage(call.request, parameters: ["deviceId", "clientId"])
        let (id, client) = (try filters.device(), try filters.client())
        let devices: [Device]
        if let id {
            let known = try await known(id, in: call.network)
            try authenticator.require(call, isOrAdministers: id, known)
            let isListed = known.map { device in client ?? device.userID == device.userID } ?? false
            devices = isListed ? [known].compactMap(\.self) : []
        } else {
            try call.caller.require(.pushAdmin)
            devices = try await services.devices.registeredDevices(
                through: AblyDevice.providers,
                of: client,
                in: call.network,
                after: page.after { DeviceID($0) },
                limit: page.limit + 1
            )
        }
        return page.answer(devices, key: \.id.rawValue, to: call.request) { .object($0.ablyJSON(withRecipient: true)) }
    }

    private func showPublicKey(_ call: AblyCall) async throws -> Response {
        let network = call.network
        var credential = try await services.credentials.providerCredential(.webpush, appID: "", of: network)
        if credential == nil, let format = services.credentialFormats.first(where: { $0.provider == .webpush }),
            let initial = format.initial(services.clock.now())
        {
            credential = try await services.credentials.addProviderCredential(initial, of: network)
            await services.credentialChanged(network, .webpush, nil)
        }
        guard case .string(let key)? = credential?.identity["publicKey"] else {
            throw AblyError.notFound("there is no key for browsers' push services")
        }
        var response = Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: key)))
        response.headers[.contentType] = "text/plain"
        return response
    }

    // MARK: Removing

    private func remove(_ call: AblyCall) async throws -> Response {
        try await remove(try Self.deviceID(call), call)
        return .noContent
    }

    private func removeWhere(_ call: AblyCall) async throws -> Response {
        let filters = AblyFilters(call.request)
        try filters.refuseAll(but: Self.filters)
        switch (try filters.device(), try filters.client()) {
        case (let id?, nil): try await remove(id, call)
        case (nil, let client?):
            try call.caller.require(.pushAdmin)
            try await removeAll(of: client, in: call.network)
        default: throw AblyError.query("exactly one of deviceId and clientId is needed")
        }
        return .noContent
    }

    private func remove(_ id: DeviceID, _ call: AblyCall) async throws {
        let known = try await known(id, in: call.network)
        try authenticator.require(call, isOrAdministers: id, known)
        guard known != nil else { return }
        _ = try await services.devices.deleteDevice(id, ifOwnedBy: nil, in: call.network)
    }

    private func removeAll(of client: UserID, in network: NetworkID) async throws {
        var last: DeviceID?
        while true {
            let page = try await services.devices.registeredDevices(
                through: AblyDevice.providers,
                of: client,
                in: network,
                after: last,
                limit: 100
            )
            for device in page {
                _ = try await services.devices.deleteDevice(device.id, ifOwnedBy: client, in: network)
            }
            guard let end = page.last else { return }
            last = end.id
        }
    }

    // MARK: Parts

    /// A device that the caller may know.
    private func device(_ id: DeviceID, for call: AblyCall) async throws -> Device {
        let known = try await known(id, in: call.network)
        try authenticator.require(call, isOrAdministers: id, known)
        guard let known else { throw AblyError.unknownDevice }
        return known
    }

    /// A device, as far as it is one of those that Ably has a name for, and did not come with a notification.
    private func known(_ id: DeviceID, in network: NetworkID) async throws -> Device? {
        guard !id.isOfAddress else { return nil }
        let device = try await services.devices.device(id, in: network)
        return device.flatMap { AblyDevice.providers.contains($0.address.provider) ? $0 : nil }
    }

    private static func deviceID(_ call: AblyCall) throws -> DeviceID {
        try DeviceID(ablyDevice: try call.context.segment("device"))
    }
}
