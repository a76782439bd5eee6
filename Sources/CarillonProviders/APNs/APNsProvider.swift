package import CarillonCore

/// Sends one request per device to Apple Push Notification service (API section 9).
package struct APNsProvider: Provider {
    /// Where Apple's services are reached.
    package struct Services: Sendable {
        /// For apps from the App Store and TestFlight.
        package var production = "https://api.push.apple.com"
        /// For apps started from Xcode.
        package var sandbox = "https://api.sandbox.push.apple.com"

        /// Apple's own, unless told otherwise.
        package init() {}
    }

    /// `apns`.
    package let name = ProviderName.apns
    /// How long one device can take: two requests, the second one when its token had to be renewed.
    package var deadline: Duration { timeout * 2 }

    private let connections: APNsConnections
    private let credentials: RememberedCredentials<APNsCredential>
    private let tokens: APNsTokenSource
    private let services: Services
    private let clock: WallClock
    private let timeout: Duration
    private let concurrency: Int
    private let history = LaneHistory()

    /// A provider.
    /// - Parameters:
    ///   - connections: Sends the requests.
    ///   - credentials: Finds the credential of a network's app; asked once for each group.
    ///   - tokens: Makes provider tokens.
    ///   - services: Where to.
    ///   - clock: The time by which `Retry-After` is read.
    ///   - timeout: How long one request may take, from the name to the last byte of the answer.
    ///   - concurrency: How many requests of one group are on their way at a time.
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

    /// Sends to all targets, many at a time, and reports each as soon as APNs has answered.
    ///
    /// When an answer concerns all of the lane, such as a key that Apple does not know, what was not sent yet stays so and
    /// gets the same outcome. What is on the wire is waited for, since Apple may have taken it.
    package func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
        let sending: APNsSending
        switch await begin(group) {
        case .success(let begun): sending = begun
        case .failure(let refusal):
            guard !Task.isCancelled else { return }
            for target in group.targets { report(target, refusal.outcome) }
            return
        }
        await group.sendToEach(atMost: concurrency, while: sending.isCurrent, report: report) {
            await sending.send(to: $0)
        }
    }

    /// The whole group has this outcome.
    private struct Refusal: Error {
        let outcome: Outcome

        init(_ outcome: Outcome) { self.outcome = outcome }
    }

    /// Finds what the group is sent with.
    private func begin(_ group: DeliveryGroup) async -> Result<APNsSending, Refusal> {
        let current: CurrentCredential<APNsCredential>
        let lane = group.lane
        let find = { try await credentials.credential(of: lane.networkID, for: lane.appID) }
        switch await CredentialLookup(named: lane.appID, by: find) {
        case .found(let found): current = found
        case .missing(let outcome): return .failure(Refusal(outcome))
        case .cancelled: return .failure(Refusal(.deferLane(after: nil, reason: "cancelled")))
        }
        let credential = current.value
        var identity = APNsSending.Identity.certificate
        if case .token(let key) = credential.kind {
            do {
                identity = .token(key, try await tokens.token(for: key), tokens)
            } catch {
                return .failure(Refusal(.deferLane(after: .seconds(5), reason: "provider token not available")))
            }
        }
        do {
            let transport = try connections.transport(for: credential)
            return .success(
                APNsSending(
                    group,
                    identity: identity,
                    isCurrent: current.isCurrent,
                    services: services,
                    transport: transport,
                    reconnect: { [connections] in connections.renew(for: credential, insteadOf: transport) },
                    history: history,
                    key: LaneHistory.Key(lane: group.lane, credential: credential.connectionName),
                    clock: clock,
                    timeout: timeout
                )
            )
        } catch {
            return .failure(Refusal(.misconfigured(reason: "certificate cannot be used")))
        }
    }
}
