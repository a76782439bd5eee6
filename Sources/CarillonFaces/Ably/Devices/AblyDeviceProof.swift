import CarillonCore
import CarillonEdge
import Crypto
import HTTPTypes
import Hummingbird

extension AblyAuthenticator {
    enum Proof: Equatable {
        case none
        /// What they say does not prove it.
        case wrong
        /// They are; or there is no such device any more, of which anybody may know who knew its id.
        case right
    }

    /// Passes those to whom everything is open, and the device itself.
    ///
    /// - Throws: 40101 for what proves nothing, 40160 for those who do not even try.
    func require(_ caller: AblyCaller, isOrAdministers id: DeviceID, _ device: Device?, _ request: Request)
        throws(AblyError)
    {
        guard !caller.isAdmin else { return }
        try caller.require(.pushSubscribe)
        switch proof(by: caller, of: id, device, request) {
        case .right: return
        case .wrong: throw .credentials("what was sent does not prove that the caller is this device")
        case .none: throw .capability("push-admin is needed for devices that do not prove themselves")
        }
    }

    /// The device that the caller proves to be without naming it: by a token, of their own or beside it.
    func provenDevice(by caller: AblyCaller, _ request: Request) async throws -> DeviceID? {
        if let own = caller.device { return own.deviceID }
        guard let token = request.headers[.ablyDeviceToken].flatMap({ deviceToken($0, for: caller) }),
            let device = try await services.devices.device(token.deviceID, in: caller.network.id), token.isOf(device)
        else { return nil }
        return device.id
    }

    func proof(by caller: AblyCaller, of id: DeviceID, _ device: Device?, _ request: Request) -> Proof {
        if let token = caller.device { return Self.proof(token, id, device) }
        if let text = request.headers[.ablyDeviceToken] {
            return deviceToken(text, for: caller).map { Self.proof($0, id, device) } ?? .wrong
        }
        guard let secret = request.headers[.ablyDeviceSecret] else { return .none }
        guard let device else { return .right }
        return Self.isSecret(secret, of: device)
            || Base64URL.text(secret).map { Self.isSecret($0, of: device) } ?? false
            ? .right : .wrong
    }

    private func deviceToken(_ text: String, for caller: AblyCaller) -> AblyDeviceToken? {
        AblyToken(text).flatMap {
            AblyDeviceToken($0, of: caller.network.id, secret: services.faceSecret, now: services.clock.now())
        }
    }

    /// Whether a text is a device's secret; takes the same time wherever they differ.
    static func isSecret(_ text: String, of device: Device) -> Bool {
        device.secretHash.map { SHA256.hash(data: Array(text.utf8)) == $0 } ?? false
    }

    private static func proof(_ token: AblyDeviceToken, _ id: DeviceID, _ device: Device?) -> Proof {
        guard token.deviceID == id else { return .wrong }
        return device.map(token.isOf) ?? true ? .right : .wrong
    }
}
