import CarillonCore
import CarillonProviders

/// Where the push services are: where Apple and Google have them, unless they are set to point at a simulator.
struct PushServiceURLs: Sendable {
    var apns = APNsProvider.Services()
    var fcm = FCMServer.google

    /// Apple's and Google's own.
    init() {}

    init(from reader: inout SettingsReader) {
        apns.production = reader.value(.apnsProductionUrl, String.init(serviceURL:)) ?? apns.production
        apns.sandbox = reader.value(.apnsSandboxUrl, String.init(serviceURL:)) ?? apns.sandbox
        fcm = reader.value(.fcmUrl, FCMServer.init(setting:)) ?? fcm
    }
}

extension String {
    fileprivate init(serviceURL text: String) throws(InvalidSetting) {
        guard let server = FCMServer(url: text) else { throw .value(text, mustBe: serviceURLRule) }
        self = server.origin
    }
}

extension FCMServer {
    fileprivate init(setting text: String) throws(InvalidSetting) {
        guard let server = FCMServer(url: text) else { throw .value(text, mustBe: serviceURLRule) }
        self = server
    }
}

private let serviceURLRule = "an https URL without a path (http only on this machine), such as https://127.0.0.1:9443"
