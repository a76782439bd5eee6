import CarillonCore
import Crypto

/// A pushkey as what it stands for: where a device is reached.
struct MatrixPushkey: Sendable {
    enum Reading: Sendable, Equatable {
        /// A device can be reached there.
        case address(DeviceAddress)
        /// It cannot be any device's. Known by an address of its own that reaches nothing, so that it can be remembered since when
        /// it is so.
        case unusable(DeviceAddress)
        /// A browser's push service that must not be called.
        case blocked
    }

    /// The longest token of Apple's, in hexadecimal digits.
    private static let longestToken = 200
    private static let shortestHex = 64

    /// Checks browsers' push services.
    let egress: EgressGuard

    /// Reads the pushkey of a device of an app.
    func reading(
        of device: MatrixNotification.Device,
        _ binding: MatrixBinding,
        _ provider: ProviderName,
        hosts: WebPushHosts
    ) -> Reading {
        let appID = binding.appID ?? device.appID
        switch provider {
        case .apns:
            guard let token = Self.token(device.pushkey, binding.pushkeyFormat) else { break }
            return .address(.apns(token: token, appID: appID, environment: binding.environment))
        case .webpush:
            guard let endpoint = device.text("endpoint"), let auth = device.text("auth") else { break }
            // A blocked push service is our decision, and says nothing of the pushkey.
            guard let url = try? OutboundURL(endpoint) else { break }
            guard (binding.allowedEndpoints ?? hosts).allow(url.host), (try? egress.check(endpoint)) != nil else {
                return .blocked
            }
            if let address = subscription(endpoint, device.pushkey, auth) { return .address(address) }
        default:
            guard device.pushkey.isPrintableASCII else { break }
            return .address(DeviceAddress(provider, device.pushkey, appID: appID))
        }
        return .unusable(Self.substitute(for: device.pushkey, of: provider, appID, binding.environment))
    }

    /// A token of Apple's in hexadecimal digits.
    static func token(_ pushkey: String, _ format: MatrixBinding.PushkeyFormat) -> String? {
        let isHex = pushkey.utf8.count.isMultiple(of: 2) && pushkey.utf8.allSatisfy(\.isHexDigit)
        let token: String
        switch format {
        case .hex where isHex, .auto where isHex && pushkey.utf8.count >= shortestHex: token = pushkey.lowercased()
        case .hex: return nil
        case .auto, .base64:
            guard let bytes = base64(pushkey) else { return nil }
            token = bytes.hexadecimal
        }
        return (1...longestToken).contains(token.utf8.count) ? token : nil
    }

    /// Either alphabet of Base64 (RFC 4648), with padding or without.
    private static func base64(_ text: String) -> [UInt8]? {
        let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }
        return padding.count <= 2 ? Base64URL.decodeEither(text) : nil
    }

    private func subscription(_ endpoint: String, _ p256dh: String, _ auth: String) -> DeviceAddress? {
        let written = DeviceAddress.webpush(
            endpoint: endpoint,
            p256dh: Self.urlAlphabet(p256dh),
            auth: Self.urlAlphabet(auth)
        )
        var reader = JSONObjectReader(.object(written.json(isShown: false)), unknown: .tolerate, into: InputErrors())
        // Which push services may be called was asked before.
        let hosts = (try? OutboundURL(endpoint)).map { WebPushHosts([$0.host.text]) } ?? WebPushHosts()
        return DeviceAddressReader(egress: egress, webPushHosts: hosts).address(from: &reader)
    }

    /// Some apps write keys in the other alphabet of Base64.
    private static func urlAlphabet(_ text: String) -> String {
        text.replacing("+", with: "-").replacing("/", with: "_")
    }

    /// An address that no device has, but that is well formed, for a pushkey that is not.
    private static func substitute(
        for pushkey: String,
        of provider: ProviderName,
        _ appID: String,
        _ environment: DeviceAddress.APNsEnvironment
    ) -> DeviceAddress {
        let name = SHA256.hash(data: Array("unusable:\(pushkey)".utf8)).hexadecimal
        return switch provider {
        case .apns: .apns(token: name, appID: appID, environment: environment)
        case .webpush: .webpush(endpoint: "https://unusable.invalid/\(name)", p256dh: "", auth: "")
        default: DeviceAddress(provider, name, appID: appID)
        }
    }
}

extension MatrixNotification.Device {
    fileprivate func text(_ key: String) -> String? { data[key]?.text.flatMap { $0.isEmpty ? nil : $0 } }
}
