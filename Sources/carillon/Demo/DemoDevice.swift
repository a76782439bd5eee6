import CarillonCore
import CarillonSimulator

/// A device of somebody who plays a part, of whatever provider.
struct DemoDevice: Sendable {
    let owner: String
    /// What people call it.
    let name: String
    /// By what a simulated push service knows it: a token, or an endpoint; `nil` for a device that needs none.
    var token: String?
    let registration: JSONValue

    var id: String { "\(owner)-\(name.lowercased())" }

    /// Devices that no push service is needed for; what Dave is sent goes to a URL.
    static func plain(url: String) -> [DemoDevice] {
        [
            DemoDevice(owner: "bob", name: "log", registration: ["userId": "bob", "provider": "log", "locale": "en"]),
            DemoDevice(
                owner: "carol",
                name: "log",
                registration: ["userId": "carol", "provider": "log", "locale": "th-TH"]
            ),
            DemoDevice(
                owner: "dave",
                name: "webhook",
                registration: ["userId": "dave", "provider": "webhook", "url": .string(url)]
            ),
        ]
    }

    /// An app's iPhone, Android phone and browser, which subscribed with the network's key.
    static func handsets(of app: String, on simulator: Simulator, publicKey: String) -> [DemoDevice] {
        let (iPhone, android) = (SimulatedToken.apns(), SimulatedToken.fcm())
        let browser = simulator.makeSubscription(applicationServerKey: publicKey)
        return [
            DemoDevice(
                owner: "bob",
                name: "iPhone",
                token: iPhone,
                registration: [
                    "provider": "apns", "token": .string(iPhone), "appId": .string(app), "environment": "production",
                    "locale": "en",
                ]
            ),
            DemoDevice(
                owner: "carol",
                name: "Android",
                token: android,
                registration: ["provider": "fcm", "token": .string(android), "appId": .string(app), "locale": "th-TH"]
            ),
            DemoDevice(
                owner: "dave",
                name: "browser",
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
