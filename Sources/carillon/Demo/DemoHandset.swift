import CarillonCore
import CarillonSimulator

/// What somebody of the second act holds in their hands.
struct DemoHandset: Sendable {
    let owner: String
    /// What people call it.
    let name: String
    let id: String
    /// By what the push service knows it: a token, or an endpoint.
    let token: String
    let registration: JSONValue

    /// Of an app: an iPhone, an Android phone and a browser, which subscribed with the network's key.
    static func cast(of app: String, on simulator: Simulator, publicKey: String) -> [DemoHandset] {
        let (iPhone, android) = (SimulatedToken.apns(), SimulatedToken.fcm())
        let browser = simulator.makeSubscription(applicationServerKey: publicKey)
        return [
            DemoHandset(
                owner: "bob",
                name: "iPhone",
                id: "bob-iphone",
                token: iPhone,
                registration: [
                    "provider": "apns", "token": .string(iPhone), "appId": .string(app), "environment": "production",
                    "locale": "en",
                ]
            ),
            DemoHandset(
                owner: "carol",
                name: "Android",
                id: "carol-android",
                token: android,
                registration: [
                    "provider": "fcm", "token": .string(android), "appId": .string(app), "locale": "th-TH",
                ]
            ),
            DemoHandset(
                owner: "dave",
                name: "browser",
                id: "dave-browser",
                token: browser.endpoint,
                registration: [
                    "provider": "webpush",
                    "subscription": [
                        "endpoint": .string(browser.endpoint),
                        "keys": ["p256dh": .string(browser.p256dh), "auth": .string(browser.auth)],
                    ],
                ]
            ),
        ]
    }
}
