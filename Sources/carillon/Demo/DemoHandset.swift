import CarillonCore
import CarillonSimulator

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
    let registration: JSONValue
    /// The registration, the long parts cut off.
    let shown: JSONValue

    /// Of an app: an iPhone, an Android phone and a browser, which subscribed with the network's key.
    static func cast(of app: String, on simulator: Simulator, publicKey: String) -> [DemoHandset] {
        let (iPhone, android) = (SimulatedToken.apns(), SimulatedToken.fcm())
        let browser = simulator.makeSubscription(applicationServerKey: publicKey)
        func apns(_ token: String) -> JSONValue {
            [
                "userId": "bob", "provider": "apns", "appId": .string(app), "environment": "production",
                "token": .string(token), "locale": "en",
            ]
        }
        func fcm(_ token: String) -> JSONValue {
            ["userId": "carol", "provider": "fcm", "appId": .string(app), "token": .string(token), "locale": "th-TH"]
        }
        func webPush(_ p256dh: String, _ auth: String) -> JSONValue {
            let keys: JSONValue = ["p256dh": .string(p256dh), "auth": .string(auth)]
            let subscription: JSONValue = ["endpoint": .string(browser.endpoint), "keys": keys]
            return ["userId": "dave", "provider": "webpush", "subscription": subscription]
        }
        return [
            DemoHandset(
                owner: "bob",
                name: "iPhone",
                id: "bob-iphone",
                token: iPhone,
                registration: apns(iPhone),
                shown: apns(iPhone.start)
            ),
            DemoHandset(
                owner: "carol",
                name: "Android",
                id: "carol-android",
                token: android,
                registration: fcm(android),
                shown: fcm(android.start)
            ),
            DemoHandset(
                owner: "dave",
                name: "browser",
                id: "dave-browser",
                token: browser.endpoint,
                registration: webPush(browser.p256dh, browser.auth),
                shown: webPush(browser.p256dh.start, browser.auth.start)
            ),
        ]
    }
}

extension String {
    fileprivate var start: String { "\(prefix(8))…" }
}
