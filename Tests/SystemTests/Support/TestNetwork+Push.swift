import CarillonCore
import CarillonSimulator
import NIOCore
import NIOHTTP1
import Testing

extension TestNetwork {
    /// The app of devices that are in no other.
    static let app = "com.example.chat"

    /// Stores a key of Apple's for an app.
    func storeAPNsCredential(_ key: APNsKey, app: String = Self.app) async throws {
        let credential: JSONValue = [
            "teamId": .string(key.teamID), "keyId": .string(key.keyID), "privateKey": .string(key.privateKeyPEM),
        ]
        try await send(.PUT, "/providers/apns/apps/\(app)", credential)
    }

    /// Stores a service account for an app.
    func storeFCMCredential(of simulator: Simulator, app: String = Self.app) async throws {
        let account = try JSONValue(parsing: simulator.serviceAccountJSON)
        try await send(.PUT, "/providers/fcm/apps/\(app)", ["serviceAccount": account])
    }

    /// Lets the network's key pair for Web Push be made, and allows subscriptions of the simulator; answers the public key,
    /// as browsers ask for it.
    func storeWebPushCredential() async throws -> String {
        try await send(.PATCH, "", ["webPushHosts": ["default", "127.0.0.1"]])
        try await send(.PUT, "/providers/webpush", ["subject": "mailto:ops@acme.example"])
        return try #require(try await send(.GET, "/providers/webpush/key")["publicKey"]?.text)
    }

    func addIPhone(_ device: String, of user: String, token: String, app: String = Self.app) async throws {
        var body = Self.iPhone(token, app: app)
        body["userId"] = .string(user)
        try await send(.PUT, "/devices/\(device)", .object(body))
    }

    /// Registers an Android phone.
    func addAndroid(_ device: String, of user: String, token: String) async throws {
        let body: JSONValue = [
            "userId": .string(user), "provider": "fcm", "appId": .string(Self.app), "token": .string(token),
        ]
        try await send(.PUT, "/devices/\(device)", body)
    }

    /// Registers a browser.
    func addBrowser(_ device: String, of user: String, _ subscription: PushSubscription) async throws {
        let body: JSONValue = [
            "userId": .string(user), "provider": "webpush", "subscription": try JSONValue(parsing: subscription.json),
        ]
        try await send(.PUT, "/devices/\(device)", body)
    }

    /// Stores what all three push services know the network by, and registers the iPhone of bob, the Android phone of carol and the browser
    /// of dave; answers their addresses.
    func addPhonesAndBrowser(
        of simulator: Simulator
    ) async throws -> (iPhone: String, android: String, browser: PushSubscription) {
        try await storeAPNsCredential(simulator.apnsKey)
        try await storeFCMCredential(of: simulator)
        let browser = simulator.makeSubscription(applicationServerKey: try await storeWebPushCredential())
        let (iPhone, android) = (SimulatedToken.apns(), SimulatedToken.fcm())
        try await addIPhone("iphone", of: "bob", token: iPhone)
        try await addAndroid("android", of: "carol", token: android)
        try await addBrowser("browser", of: "dave", browser)
        return (iPhone, android, browser)
    }

    /// Fills the channel `general` with users who have an iPhone each, and are named as it is.
    func importIPhones(_ tokens: [String: String], app: String = Self.app) async throws {
        var lines: [JSONValue] = [["channel": ["id": "general", "displayName": "General"]]]
        for (id, token) in tokens.sorted(by: { $0.key < $1.key }) {
            var device = Self.iPhone(token, app: app)
            device["id"] = .string(id)
            device["userId"] = .string(id)
            lines.append(["user": ["id": .string(id)]])
            lines.append(["member": ["channelId": "general", "userId": .string(id)]])
            lines.append(["device": .object(device)])
        }
        let answer = try await client.send(
            .POST,
            "/v1/networks/\(id)/import",
            token: adminKey,
            body: Array(lines.map(\.serializedText).joined(separator: "\n").utf8),
            contentType: "application/x-ndjson",
            limit: .seconds(120)
        )
        try #require(answer.status == 200, "\(answer.text)")
        try #require(answer.json["devices"]?.integer == tokens.count)
    }

    /// What a lane is doing; `nil` while it is not known.
    func lane(of provider: String, app: String = Self.app) async throws -> JSONValue? {
        let lanes = try await send(.GET, "/providers")["items"]?.elements ?? []
        return lanes.first { $0["provider"]?.text == provider && $0["appId"]?.text == app }
    }

    /// How many of an event's deliveries are in a state.
    func count(_ state: String, of event: String) async throws -> Int {
        try #require(try await send(.GET, "/events/\(event)")["deliveries"]?[state]?.integer)
    }

    private static func iPhone(_ token: String, app: String) -> JSONObject {
        var device = JSONObject()
        device["provider"] = "apns"
        device["appId"] = .string(app)
        device["environment"] = "production"
        device["token"] = .string(token)
        return device
    }
}

/// So many iPhones that are there, by the ids of their devices.
func iPhones(_ count: Int, _ prefix: String = "phone", tokenPrefix: String = "") -> [String: String] {
    Dictionary(uniqueKeysWithValues: (0..<count).map { ("\(prefix)-\($0)", SimulatedToken.apns(tokenPrefix)) })
}

/// The ids of all notifications that tell these devices of these events.
func notificationIDs(of events: [String], for devices: some Collection<String>) throws -> Set<String> {
    let events = try events.map { try #require(EventID($0)) }
    return Set(
        events.flatMap { event in
            devices.map { NotificationID(event: event, device: DeviceID(trusted: $0)).description }
        }
    )
}
