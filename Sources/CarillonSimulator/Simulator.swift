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

    private let parts: SimulatorParts
    private let authority: CertificateAuthority
    private let files: GeneratedFiles
    private let listeners: Listeners

    private init(
        parts: SimulatorParts,
        authority: CertificateAuthority,
        files: GeneratedFiles,
        listeners: Listeners
    ) throws {
        self.parts = parts
        self.authority = authority
        self.files = files
        self.listeners = listeners
        urls = listeners.urls
        certificateAuthorityFile = try files.write(authority.pem, to: "ca.pem")
        apnsKey = parts.makeAPNsKey(teamID: "SIMULATION")
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
                let parts = SimulatorParts(configuration, urls: listeners.urls)
                let simulator = try Simulator(parts: parts, authority: authority, files: files, listeners: listeners)
                listeners.assign(parts.servers)
                return simulator
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
        parts.received.finish()
        files.remove()
    }

    package var received: ReceivedNotifications { parts.received }

    /// The service account of FCM's project, as Google's console offers it for download.
    package var serviceAccountJSON: String { get throws { try parts.account.json() } }

    /// The folder of the generated files.
    package var directory: String { files.directory }

    /// Writes a file beside the root certificate, and answers its path.
    func write(_ text: String, to name: String) throws(SimulatorError) -> String { try files.write(text, to: name) }

    package var accessTokensIssued: Int { parts.tokenEndpoint.issued }

    package func revokeAccessTokens() { parts.tokenEndpoint.revokeAll() }

    /// Changes how a service misbehaves towards everybody. Connections that are open are changed as well.
    package func disturb(_ service: SimulatedService, _ body: (inout Disturbances) -> Void) {
        parts.traffic[service]?.change(body)
    }

    /// Makes another key with which provider tokens can be signed. A team's id has ten characters.
    package func makeAPNsKey(teamID: String = "SIMULATION") -> APNsKey { parts.makeAPNsKey(teamID: teamID) }

    /// Makes a certificate with which a client can push to an app, named by its bundle id, without provider tokens.
    package func makeClientCertificate(topic: String) throws -> IssuedCertificate {
        try authority.issueClient(topic: topic)
    }

    /// Subscribes a browser.
    ///
    /// The last part of its endpoint begins with `prefix`, such as `gone`; without one the browser is there.
    /// With an `applicationServerKey`, in base64url, only messages of that sender are taken.
    package func makeSubscription(_ prefix: String = "", applicationServerKey: String? = nil) -> PushSubscription {
        parts.makeSubscription(prefix, applicationServerKey: applicationServerKey)
    }

    /// From now on the device with this token, or this endpoint of Web Push, has gone.
    package func removeDevice(_ token: String) { parts.departures.add(token, at: UnixTime.now()) }

    package func restoreDevice(_ token: String) { parts.departures.remove(token) }
}
