import CarillonClient
import CarillonSimulator
import Foundation

/// What somebody of the second act holds in their hands.
struct DemoHandset: Sendable {
    /// Whose it is.
    let owner: String
    /// What people call it.
    let name: String
    /// The id under which it is registered.
    let id: String
    /// By what the push service knows it: a token, or an endpoint.
    let token: String
    /// What is registered.
    let registration: CarillonClient.Registration

    /// Of an app: an iPhone, an Android phone and a browser, which subscribed with the network's key.
    static func cast(of app: String, on simulator: Simulator, publicKey: String) -> [DemoHandset] {
        let (iPhone, android) = (SimulatedToken.apns(), SimulatedToken.fcm())
        let browser = simulator.makeSubscription(applicationServerKey: publicKey)
        var handsets = [
            DemoHandset(
                owner: "bob",
                name: "iPhone",
                id: "bob-iphone",
                token: iPhone,
                registration: .apns(
                    token: iPhone,
                    appID: app,
                    environment: .production,
                    locale: Locale(identifier: "en")
                )
            ),
            DemoHandset(
                owner: "carol",
                name: "Android",
                id: "carol-android",
                token: android,
                registration: .fcm(token: android, appID: app, locale: Locale(identifier: "th_TH"))
            ),
        ]
        if let endpoint = URL(string: browser.endpoint) {
            handsets.append(
                DemoHandset(
                    owner: "dave",
                    name: "browser",
                    id: "dave-browser",
                    token: browser.endpoint,
                    registration: .webPush(endpoint: endpoint, p256dh: browser.p256dh, auth: browser.auth)
                )
            )
        }
        return handsets
    }
}
