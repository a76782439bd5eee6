import CarillonCore
import CarillonEdge
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
    func require(_ call: AblyCall, isOrAdministers id: DeviceID, _ device: Device?) throws(AblyError) {
        guard !call.caller.isAdmin else { return }
        try call.caller.require(.pushSubscribe)
        switch proof(by: call, of: id, device) {
        case .right: return
        case .wrong: throw .credentials("what was sent does not prove that the caller is this device")
        case .none: throw .capability("push-admin is needed for devices that do not prove themselves")
        }
    }

    /// The device that the caller proves to be without naming it: by a token, of their own or beside it.
    func provenDevice(by call: AblyCall) async throws -> DeviceID? {
        if let own = call.caller.device { return own.deviceID }
        guard let token = call.request.headers[.ablyDeviceToken].flatMap({ deviceToken($0, in: call.network) }),
            let device = try await services.devices.device(token.deviceID, in: call.network), token.isOf(device)
        else { return nil }
        return device.id
    }

    func proof(by call: AblyCall, of id: DeviceID, _ device: Device?) -> Proof {
        if let token = call.caller.device { return Self.proof(token, id, device) }
        if let text = call.request.headers[.ablyDeviceToken] {
            return deviceToken(text, in: call.network).map { Self.proof($0, id, device) } ?? .wrong
        }
        guard let secret = call.request.headers[.ablyDeviceSecret] else { return .none }
        guard let device else { return .right }
        return Self.isSecret(secret, of: device) || Self.isSecret(Base64URL.text(secret), of: device) ? .right : .wrong
    }

    func deviceToken(_ text: String, in network: NetworkID) -> AblyDeviceToken? {
        AblyToken(text).flatMap { deviceToken($0, in: network) }
    }

    func deviceToken(_ token: AblyToken, in network: NetworkID) -> AblyDeviceToken? {
        AblyDeviceToken(token, of: network, secret: services.faceSecret, now: services.clock.now())
    }

    /// Whether a text is a device's secret; takes the same time wherever they differ.
    static func isSecret(_ text: String?, of device: Device) -> Bool {
        guard let text, let hash = device.secretHash else { return false }
        return hash.matches(text)
    }

    private static func proof(_ token: AblyDeviceToken, _ id: DeviceID, _ device: Device?) -> Proof {
        guard token.deviceID == id else { return .wrong }
        return device.map(token.isOf) ?? true ? .right : .wrong
    }
}
