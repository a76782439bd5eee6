package import CarillonCore

/// Sends one request per device to Apple Push Notification service (API section 9).
package struct APNsProvider: Provider {
    /// Where Apple's services are reached.
    package struct Services: Sendable {
        /// For apps from the App Store and TestFlight.
        package var production = "https://api.push.apple.com"
        /// For apps started from Xcode.
        package var sandbox = "https://api.sandbox.push.apple.com"

        package init() {}

        func url(of environment: DeviceAddress.APNsEnvironment) -> String {
            environment == .production ? production : sandbox
        }
    }

    package let name = ProviderName.apns
    /// How long one device can take: two requests, the second one when its token had to be renewed.
    package var deadline: Duration { timeout * 2 }

    let connections: APNsConnections
    private let credentials: RememberedCredentials<APNsCredential>
    let tokens: APNsTokenSource
    let services: Services
    let clock: WallClock
    let timeout: Duration
    private let concurrency: Int
    let history = LaneHistory()

    /// A provider that gives one request `timeout`, from the name to the last byte of the answer, and has as many of a group on
    /// their way at a time as `concurrency` says.
    package init(
        connections: APNsConnections,
        credentials: RememberedCredentials<APNsCredential>,
        tokens: APNsTokenSource,
        services: Services = Services(),
        clock: WallClock = .system,
        timeout: Duration = .seconds(15),
        concurrency: Int = 200
    ) {
        self.connections = connections
        self.credentials = credentials
        self.tokens = tokens
        self.services = services
        self.clock = clock
        self.timeout = timeout
        self.concurrency = concurrency
    }

    /// When an answer concerns all of the lane, such as a key that Apple does not know, what was not sent yet stays so and
    /// gets the same outcome. What is on the wire is waited for, since Apple may have taken it.
    package func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
        await group.send(with: credentials, atMost: concurrency, report: report) { (current) throws(Refusal) in
            let sending = try await APNsSending(group, by: self, with: current)
            return { await sending.send(to: $0) }
        }
    }
}
