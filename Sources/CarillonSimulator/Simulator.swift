package import Logging

/// Apple's, Google's and a browser vendor's push services on this machine, over real HTTP/2 and TLS.
///
/// They behave as documented: they authenticate, refuse what the real ones refuse, and fail on request, by what a
/// device's token begins with or by ``disturb(_:_:)``. Certificates, keys and credentials are made anew at each start.
package final class Simulator: Sendable {
    package let urls: SimulatorURLs
    /// The path of the root certificate to trust, in PEM, for `CARILLON_EXTRA_CA_FILE`.
    package let certificateAuthorityFile: String
    package let apnsKey: APNsKey
    package let received: ReceivedNotifications

    private let authority: CertificateAuthority
    private let files: GeneratedFiles
    private let listeners: Listeners
    private let departures = Departures()
    private let account: ServiceAccount
    private let tokenEndpoint: TokenEndpoint
    private let traffic: [SimulatedService: Traffic]
    private let providerTokens: [ProviderTokens]
    private let subscriptions = Subscriptions()

    private init(
        _ configuration: SimulatorConfiguration,
        authority: CertificateAuthority,
        files: GeneratedFiles,
        listeners: Listeners
    ) throws {
        let (urls, received) = (listeners.urls, ReceivedNotifications(limit: configuration.recordLimit))
        let (departures, firstRequests) = (departures, FirstRequests())
        let traffic = Dictionary(
            uniqueKeysWithValues: SimulatedService.allCases.map { ($0, Traffic(configuration.disturbances)) }
        )
        func scene(_ service: SimulatedService) -> Scene {
            Scene(
                service: service,
                detail: configuration.detail,
                traffic: traffic[service] ?? Traffic(configuration.disturbances),
                departures: departures,
                firstRequests: firstRequests,
                received: received
            )
        }
        account = ServiceAccount(projectID: configuration.projectID, tokenURL: urls.token)
        tokenEndpoint = TokenEndpoint(
            account: account,
            lifetime: configuration.accessTokenLifetime,
            traffic: scene(.oauth).traffic
        )
        let production = ProviderTokens(limitsUpdates: configuration.limitsTokenUpdates)
        let sandbox = ProviderTokens(limitsUpdates: configuration.limitsTokenUpdates)
        let (apns, web) = (configuration.appleRules, configuration.webRules)
        self.urls = urls
        self.received = received
        self.authority = authority
        self.files = files
        self.listeners = listeners
        self.traffic = traffic
        providerTokens = [production, sandbox]
        certificateAuthorityFile = try files.write(authority.pem, to: "ca.pem")
        apnsKey = Self.makeAPNsKey(of: "SIMULATION", for: providerTokens)
        listeners.assign([
            .apnsProduction: APNsServer(scene: scene(.apnsProduction), tokens: production, connectionRules: apns),
            .apnsSandbox: APNsServer(scene: scene(.apnsSandbox), tokens: sandbox, connectionRules: apns),
            .fcm: FCMServer(
                scene: scene(.fcm),
                projectID: configuration.projectID,
                tokens: tokenEndpoint,
                connectionRules: web
            ),
            .webPush: WebPushServer(
                scene: scene(.webPush),
                origin: urls.webPush,
                subscriptions: subscriptions,
                connectionRules: web
            ),
        ])
    }

    /// Starts all services. The logger is told about connections that fail.
    ///
    /// Throws ``SimulatorError`` when a port is taken or a file cannot be written.
    package static func start(
        _ configuration: SimulatorConfiguration = SimulatorConfiguration(),
        logger: Logger = Logger(label: "carillon.simulator") { _ in SwiftLogNoOpLogHandler() }
    ) async throws -> Simulator {
        let files = try GeneratedFiles(directory: configuration.directory)
        do {
            let authority = try CertificateAuthority()
            let listeners = try await Listeners.open(configuration, authority: authority, logger: logger)
            do {
                return try Simulator(configuration, authority: authority, files: files, listeners: listeners)
            } catch {
                await listeners.close()
                throw error
            }
        } catch {
            files.remove()
            throw error
        }
    }

    /// Calls `body` with services that run for as long as it takes.
    package static func withSimulator(
        _ configuration: SimulatorConfiguration = SimulatorConfiguration(),
        _ body: (Simulator) async throws -> Void
    ) async throws {
        let simulator = try await start(configuration)
        do {
            try await body(simulator)
        } catch {
            await simulator.shutdown()
            throw error
        }
        await simulator.shutdown()
    }

    /// Ends all connections and removes the generated files, unless a folder was named for them.
    package func shutdown() async {
        await listeners.close()
        received.finish()
        files.remove()
    }

    /// The service account of FCM's project, as Google's console offers it for download.
    package var serviceAccountJSON: String { get throws { try account.json() } }

    /// The folder of the generated files.
    package var directory: String { files.directory }

    /// Writes a file beside the root certificate, and answers its path.
    func write(_ text: String, to name: String) throws(SimulatorError) -> String { try files.write(text, to: name) }

    package var accessTokensIssued: Int { tokenEndpoint.issued }

    package func revokeAccessTokens() { tokenEndpoint.revokeAll() }

    /// Changes how a service misbehaves towards everybody. Connections that are open are changed as well.
    package func disturb(_ service: SimulatedService, _ body: (inout Disturbances) -> Void) {
        traffic[service]?.change(body)
    }

    /// Makes another key with which provider tokens can be signed. A team's id has ten characters.
    package func makeAPNsKey(teamID: String = "SIMULATION") -> APNsKey {
        Self.makeAPNsKey(of: teamID, for: providerTokens)
    }

    private static func makeAPNsKey(of teamID: String, for providerTokens: [ProviderTokens]) -> APNsKey {
        let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
        let key = APNsKey(teamID: teamID, keyID: String((0..<10).compactMap { _ in letters.randomElement() }))
        for tokens in providerTokens { tokens.register(key) }
        return key
    }

    /// Makes a certificate with which a client can push to an app, named by its bundle id, without provider tokens.
    package func makeClientCertificate(topic: String) throws -> IssuedCertificate {
        try authority.issueClient(topic: topic)
    }

    /// Subscribes a browser.
    ///
    /// The last part of its endpoint begins with `prefix`, such as `gone`; without one the browser is there.
    /// With an `applicationServerKey`, in base64url, only messages of that sender are taken.
    package func makeSubscription(_ prefix: String = "", applicationServerKey: String? = nil) -> PushSubscription {
        let name = (prefix.isEmpty ? "browser" : prefix) + "-" + SimulatedToken.random()
        let subscriber = Subscriber(applicationServerKey: applicationServerKey.map { Base64URL.decode($0) ?? [] })
        subscriptions.add(subscriber, name: name)
        return subscriber.subscription(endpoint: urls.webPush + WebPushServer.endpointPath + name)
    }

    /// From now on the device with this token, or this endpoint of Web Push, has gone.
    package func removeDevice(_ token: String) { departures.add(token, at: UnixTime.now()) }

    package func restoreDevice(_ token: String) { departures.remove(token) }
}

extension SimulatorConfiguration {
    fileprivate var appleRules: ConnectionRules {
        ConnectionRules(
            allowsHTTP1: false,
            maximumConcurrentStreams: maximumConcurrentStreams,
            startsWithOneStream: true,
            goAwayReason: #"{"reason":"Shutdown"}"#
        )
    }

    fileprivate var webRules: ConnectionRules {
        ConnectionRules(allowsHTTP1: true, maximumConcurrentStreams: maximumConcurrentStreams)
    }
}
