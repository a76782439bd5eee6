import CarillonCore
import CarillonEdge
import Hummingbird

/// Devices (API section 6). For apps, admins and the users themselves.
struct DeviceController: Controller {
    private static let restore = "restore"

    let services: Services

    /// The last segment of a device's path. A literal one hides the parameter from all methods, and there may be a device of
    /// this id.
    static let paths = ["{device}", restore]

    func addRoutes(to router: Router<CarillonRequestContext>) {
        let callers = callers(router)
        for path in Self.paths {
            callers.show("/devices/\(path)", show)
            callers.store("/devices/\(path)", put)
            callers.delete("/devices/\(path)", use: delete)
        }
        admins(router).post("/devices/\(Self.restore)", use: restore)
        callers.pages("/users/{user}/devices", use: list)
    }

    private func put(_ request: NetworkRequest) async throws -> (stored: JSONValue, isNew: Bool) {
        let access = request.access
        try access.requireDeviceRegistration()
        let id = try Self.deviceID(request)
        let body = try await request.json()
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
        let isNew = try await services.devices.putDevice(device, in: request.network, by: access.writer)
        return (device.json, isNew)
    }

    private func show(_ request: NetworkRequest) async throws -> JSONValue? {
        let ownUser = request.access.ownUser
        if ownUser == nil { try request.access.requireAdmin() }
        let device = try await services.devices.device(Self.deviceID(request), in: request.network).found()
        // Of what is others' a user learns nothing, not even that it is there.
        return device.userID == ownUser ?? device.userID ? device.json : nil
    }

    private func delete(_ request: NetworkRequest) async throws -> Response {
        let access = request.access
        try access.requireDevices()
        let id = try Self.deviceID(request)
        // A mistyped condition must not remove whoever's device it is.
        try request.query.refuseAll(but: "userId", isPaged: false)
        let named = try request.query.identifier("userId", as: Person.self)
        let owner = try access.ownUser.map { own throws(Problem) in try access.user(named ?? own) } ?? named
        _ = try await services.devices.deleteDevice(id, ifOwnedBy: owner, in: request.network)
        return .noContent
    }

    /// Takes back into use what was unregistered or quarantined by mistake.
    private func restore(_ request: NetworkRequest) async throws -> Response {
        let wanted = try DeviceRestoration(try await request.json(), now: services.clock.now())
        let count = try await services.devices.restoreDevices(
            wanted.provider,
            appID: wanted.appID,
            since: wanted.since,
            until: wanted.until,
            in: request.network
        )
        return .json(["restored": JSONValue(count)])
    }

    static func deviceID(_ request: NetworkRequest) throws(Problem) -> DeviceID {
        guard request.context.parameters.get("device") != nil else { return DeviceID(trusted: restore) }
        return try request.id("device")
    }

    private func list(_ request: NetworkRequest) async throws -> Response {
        let user = try request.knownUser()
        return try await request.list(by: \Device.id.rawValue, after: { DeviceID($0) }, json: \Device.json) {
            let devices = try await services.devices.devices(of: user, in: request.network, after: $0, limit: $1)
            if devices.isEmpty, request.access.ownUser == nil {
                _ = try await services.directory.user(user, in: request.network).found()
            }
            return devices
        }
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
