import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// Devices (API section 6). For apps, admins and the users themselves.
struct DeviceController: Controller {
    private static let restore = "restore"

    let services: Services

    /// The last segment of a device's path. A literal one hides the parameter from all methods, and there may be a device of
    /// this id.
    static let paths = ["{device}", restore]

    func addRoutes(to router: Router<CarillonRequestContext>) {
        for path in Self.paths {
            router.get(RouterPath("/v1/networks/{network}/devices/\(path)"), use: show)
            router.put(RouterPath("/v1/networks/{network}/devices/\(path)"), use: put)
            router.delete(RouterPath("/v1/networks/{network}/devices/\(path)"), use: delete)
        }
        router.post(RouterPath("/v1/networks/{network}/devices/\(Self.restore)"), use: restore)
        router.pages.get("/v1/networks/{network}/users/{user}/devices", use: list)
    }

    private func put(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await access(request, context)
        try access.requireDeviceRegistration()
        let id = try Self.deviceID(context)
        let body = try await RequestBodyReader.json(of: request)
        let device = try body.read(as: "invalid-device") { reader in
            let user = access.owner(&reader)
            return DeviceReader(now: services.clock.now(), addresses: services.addressReader(for: access.network))
                .device(id, of: user, from: &reader)
        }
        guard device.userID == access.ownUser ?? device.userID else {
            throw Problem.forbidden("must be the token's user", at: "/userId")
        }
        guard access.writer == .admin || device.address.provider.kind.isPushService else {
            throw Problem.forbidden("devices of this provider are registered by admins", at: "/provider")
        }
        let isNew = try await services.devices.putDevice(device, in: access.networkID, by: access.writer)
        return .json(device.json, status: isNew ? .created : .ok)
    }

    private func show(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await access(request, context)
        if access.ownUser == nil { try access.requireAdmin() }
        let id = try Self.deviceID(context)
        let device = try await services.devices.device(id, in: access.networkID).found()
        // Of what is others' a user learns nothing, not even that it is there.
        guard device.userID == access.ownUser ?? device.userID else { throw Problem.notFound() }
        return .json(device.json)
    }

    private func delete(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await access(request, context)
        try access.requireDevices()
        let id = try Self.deviceID(context)
        let named = try QueryParameters(request).identifier("userId", as: Person.self)
        let owner = try access.ownUser.map { own throws(Problem) in try access.user(named ?? own) } ?? named
        _ = try await services.devices.deleteDevice(id, ifOwnedBy: owner, in: access.networkID)
        return .noContent
    }

    /// Takes back into use what was unregistered or quarantined by mistake.
    private func restore(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        let wanted = try DeviceRestoration(try await RequestBodyReader.json(of: request), now: services.clock.now())
        let count = try await services.devices.restoreDevices(
            wanted.provider,
            appID: wanted.appID,
            since: wanted.since,
            until: wanted.until,
            in: access.networkID
        )
        return .json(["restored": JSONValue(count)])
    }

    static func deviceID(_ context: CarillonRequestContext) throws(Problem) -> DeviceID {
        guard context.parameters.get("device") != nil else { return DeviceID(trusted: restore) }
        return try context.identifier("device", as: Device.self)
    }

    private func list(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await access(request, context)
        let user = try access.knownUser(try context.identifier("user", as: Person.self))
        let page = try Page(QueryParameters(request))
        let devices = try await services.devices.devices(
            of: user,
            in: access.networkID,
            after: page.after { DeviceID($0) },
            limit: page.fetchLimit
        )
        if devices.isEmpty, access.ownUser == nil {
            guard try await services.directory.user(user, in: access.networkID) != nil else { throw Problem.notFound() }
        }
        return page.answer(devices, key: \.id.rawValue, \.json)
    }
}

extension Access {
    /// The user that a body names; with a user token it may be left out, or `me`, and an admin who leaves it out registers
    /// nobody's device.
    fileprivate func owner(_ reader: inout JSONObjectReader) -> UserID? {
        guard let ownUser else {
            return writer == .admin ? reader.userIDOrNobody("userId") : reader.userID("userId", required: true)
        }
        guard reader.contains("userId"), !reader.isNull("userId") else {
            _ = reader.value("userId")
            return ownUser
        }
        let named = reader.identifier("userId", as: Person.self)
        return named?.isReserved == true ? ownUser : named
    }
}
