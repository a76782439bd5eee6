import CarillonCore
import CarillonSimulator

/// What a simulator in another process says of itself when it is ready, as one line of JSON.
struct SimulatorGreeting: Sendable {
    /// What the service needs in its environment.
    let environment: [String: String]
    /// The bodies with which credentials are stored.
    let apnsCredential: JSONValue
    let fcmCredential: JSONValue
    /// The root certificate to trust, in a PEM file.
    let certificateAuthorityFile: String
    /// Where the browsers' push service is.
    let webPushURL: String
    /// Browsers, as many as were asked for.
    let subscriptions: [DeviceAddress]

    /// What a simulator that runs says of itself, to which so many browsers subscribe: the line without a line feed.
    static func line(of simulator: Simulator, subscriptionCount: Int) throws -> String {
        let key = simulator.apnsKey
        var environment = JSONObject()
        for (name, value) in simulator.environment { environment[name] = .string(value) }
        let subscriptions = (0..<subscriptionCount).map { _ in
            let subscription = simulator.makeSubscription()
            let parts = [subscription.endpoint, subscription.p256dh, subscription.auth]
            return JSONValue.array(parts.map(JSONValue.string))
        }
        let account = try JSONValue(parsing: Array(try simulator.serviceAccountJSON.utf8))
        let greeting: JSONValue = [
            "environment": .object(environment),
            "webPush": .string(simulator.urls.webPush),
            "apns": [
                "teamId": .string(key.teamID), "keyId": .string(key.keyID), "privateKey": .string(key.privateKeyPEM),
            ],
            "fcm": ["serviceAccount": account],
            "subscriptions": .array(subscriptions),
        ]
        return greeting.serializedText
    }

    /// Reads the line.
    /// - Throws: ``BenchmarkFailure`` when it is something else.
    init(_ json: JSONValue) throws(BenchmarkFailure) {
        guard case .object(let members) = json, case .object(let variables)? = members["environment"],
            case .array(let subscriptions)? = members["subscriptions"],
            let apns = members["apns"], let fcm = members["fcm"],
            case .string(let webPush)? = members["webPush"],
            case .string(let authority)? = variables["CARILLON_EXTRA_CA_FILE"]
        else { throw BenchmarkFailure("the simulator did not say what it is") }
        var environment: [String: String] = [:]
        for (name, value) in variables.members {
            if case .string(let text) = value { environment[name] = text }
        }
        self.environment = environment
        certificateAuthorityFile = authority
        webPushURL = webPush
        apnsCredential = apns
        fcmCredential = fcm
        self.subscriptions = subscriptions.compactMap { value in
            guard case .array(let parts) = value, parts.count == 3, case .string(let endpoint) = parts[0],
                case .string(let point) = parts[1], case .string(let auth) = parts[2]
            else { return nil }
            return .webpush(endpoint: endpoint, p256dh: point, auth: auth)
        }
    }

    /// The body with which a service's credential is stored.
    func credential(of service: PushService) -> JSONValue {
        switch service {
        case .apns: apnsCredential
        case .fcm: fcmCredential
        case .webPush: ["subject": "mailto:ops@example.com"]
        }
    }

    /// A URL of the environment.
    /// - Throws: ``BenchmarkFailure`` when there is none of that name.
    func url(_ name: String) throws(BenchmarkFailure) -> String {
        guard let url = environment[name] else { throw BenchmarkFailure("the simulator has no \(name)") }
        return url
    }
}
