import CarillonCore
import CarillonSimulator

/// A device of somebody who plays a part, of whatever provider.
struct DemoDevice: Sendable {
    let owner: String
    /// What people call it.
    let name: String
    let id: String
    /// By what a simulated push service knows it: a token, or an endpoint; `nil` for a device that needs none.
    let token: String?
    let registration: JSONValue

    private init(_ owner: String, _ name: String, token: String? = nil, _ registration: JSONValue) {
        self.owner = owner
        self.name = name
        id = "\(owner)-\(name.lowercased())"
        self.token = token
        self.registration = registration
    }

    /// Devices that no push service is needed for; what Dave is sent goes to a URL.
    static func plain(url: String) -> [DemoDevice] {
        [
            DemoDevice("bob", "log", ["userId": "bob", "provider": "log", "locale": "en"]),
            DemoDevice("carol", "log", ["userId": "carol", "provider": "log", "locale": "th-TH"]),
            DemoDevice("dave", "webhook", ["userId": "dave", "provider": "webhook", "url": .string(url)]),
        ]
    }

    /// An app's iPhone, Android phone and browser, which subscribed with the network's key.
    static func handsets(of app: String, on simulator: Simulator, publicKey: String) -> [DemoDevice] {
        let (iPhone, android) = (SimulatedToken.apns(), SimulatedToken.fcm())
        let browser = simulator.makeSubscription(applicationServerKey: publicKey)
        return [
            DemoDevice(
                "bob",
                "iPhone",
                token: iPhone,
                [
                    "provider": "apns", "token": .string(iPhone), "appId": .string(app), "environment": "production",
                    "locale": "en",
                ]
            ),
            DemoDevice(
                "carol",
                "Android",
                token: android,
                ["provider": "fcm", "token": .string(android), "appId": .string(app), "locale": "th-TH"]
            ),
            DemoDevice(
                "dave",
                "browser",
                token: browser.endpoint,
                [
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
