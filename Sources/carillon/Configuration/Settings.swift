import CarillonCore
import CarillonEdge
import CarillonHTTP
import Logging
import NIOSSL
import Postgres
import PushHTTP

/// The configuration of the program, checked.
struct Settings: Sendable {
    enum Database: Sendable {
        /// In a private cluster in the data directory.
        case embedded
        /// On a server that somebody else runs.
        case server(PostgresConfiguration)
    }

    /// What a command cannot do without.
    enum Requirement: Sendable {
        /// To serve: the secrets too, unless they can be generated beside an embedded cluster.
        case serving
        /// To reach the database, or to look around.
        case database
    }

    /// Public HTTP.
    var listen = ListenAddress(host: "127.0.0.1", port: 8080)
    /// Health and metrics.
    var managementListen = ListenAddress(host: "127.0.0.1", port: 9090)
    /// Whose `X-Forwarded-For` is believed.
    var trustedProxies = TrustedProxies.loopback
    /// Which web pages may call the public API.
    var corsOrigins = CORSOrigins.named([])
    var database = Database.embedded
    /// Where networks are kept besides.
    var placements: [PlacementSetting] = []
    /// How many connections each placement is said to have; `nil` leaves it to how many placements there are.
    var poolSize: Int?
    /// How many each has.
    var placementPoolSize: Int { poolSize ?? (placements.isEmpty ? PostgresConfiguration.defaultPoolSize : 3) }
    var databaseConnections: Int { placementPoolSize * (placements.count + 1) }
    /// Whether statements are prepared under a name and kept.
    var preparesStatements = true
    /// The same database without the pooler that `database` leads through, for what needs a session of its own: announcements and
    /// migrations. `nil` where they go the same way as everything.
    var announcements: PostgresConfiguration?
    /// The embedded cluster and the generated secrets.
    var dataDirectory = ".carillon"
    /// What goes with the embedded cluster when the process ends, however that is; `nil` when the cluster is to stay. Not
    /// for configuration: only the demo throws its cluster away.
    var throwAwayDirectory: String?
    /// The operator's credential; generated when it is missing and the cluster is embedded.
    var operatorToken: Secret?
    /// The former one, until everybody who uses it has the current one.
    var operatorTokenPrevious: Secret?
    /// The key that encrypts secrets at rest; likewise.
    var masterKey: MasterKey?
    /// The former master key, during a rotation: it opens what is not sealed with the current one yet.
    var masterKeyPrevious: MasterKey?
    let templates: Resource
    let migrations: Resource
    /// The folder of the admin console; `nil` when it is off.
    let console: Resource?
    var logLevel = Logger.Level.info
    var logFormat = LogFormat.text
    /// Blocks of addresses that webhooks may reach although they are private.
    var egressAllow: [CIDRBlock] = []
    /// Where webhooks and Web Push may go.
    var egress: EgressGuard { EgressGuard(allowing: egressAllow) }
    /// How to speak TLS to push services and webhooks, with further roots to trust where they are configured.
    var outboundTLS: TLSConfiguration
    /// The description of the API, which comes with the program.
    let description = Resource("openapi.yaml")
    /// The description of the other systems' APIs that are answered, which comes with the program, too.
    let facesDescription = Resource("openapi-faces.yaml")
    /// Where the push services are, when they are not where Apple and Google have them.
    var pushServices = PushServiceURLs()

    /// Reads and checks the configuration.
    ///
    /// - Throws: ``ConfigurationError`` with all mistakes at once.
    init(
        environment: [String: String],
        for requirement: Requirement = .serving
    ) throws(ConfigurationError) {
        var reader = SettingsReader(environment: environment)
        templates = Resource("Templates", given: reader.value(.templatesDir) { $0 })
        migrations = Resource("Migrations", given: reader.value(.migrationsDir) { $0 })
        let hasConsole = reader.value(.console, Bool.init(onOrOff:)) ?? true
        let consoleDirectory = reader.value(.consoleDir) { $0 }
        console = hasConsole ? Resource("Console", given: consoleDirectory) : nil
        outboundTLS = reader.value(.extraCaFile, TLSConfiguration.init(setting:)) ?? .outbound()
        readAddresses(from: &reader)
        readStorage(from: &reader)
        logLevel = reader.value(.logLevel, Logger.Level.init(setting:)) ?? logLevel
        logFormat = reader.value(.logFormat, LogFormat.init(setting:)) ?? logFormat
        egressAllow = reader.value(.egressAllow, [CIDRBlock].init(setting:)) ?? egressAllow
        pushServices = PushServiceURLs(from: &reader)
        if requirement == .serving {
            if case .server = database {
                requireSecrets(from: &reader)
            } else if !placements.isEmpty {
                reader.reject(
                    .placements,
                    InvalidSetting("needs CARILLON_DATABASE_URL, which keeps the list of who is where")
                )
            }
            templates.check(as: .templatesDir, into: &reader)
            migrations.check(as: .migrationsDir, into: &reader)
            console?.check(as: .consoleDir, into: &reader)
            description.checkFile(into: &reader)
            facesDescription.checkFile(into: &reader)
        }
        guard reader.mistakes.isEmpty else { throw ConfigurationError(mistakes: reader.mistakes) }
    }

    private mutating func readAddresses(from reader: inout SettingsReader) {
        listen = reader.value(.listen, ListenAddress.init(_:)) ?? listen
        managementListen = reader.value(.managementListen, ListenAddress.init(_:)) ?? managementListen
        if listen == managementListen, listen.port != 0 {
            reader.reject(.managementListen, InvalidSetting("is the address of CARILLON_LISTEN: each needs its own"))
        }
        corsOrigins = reader.value(.corsOrigins, CORSOrigins.init(setting:)) ?? corsOrigins
        trustedProxies = reader.value(.trustedProxies, TrustedProxies.init(setting:)) ?? trustedProxies
    }

    private mutating func readStorage(from reader: inout SettingsReader) {
        let url = reader.value(.databaseUrl, PostgresConfiguration.init(setting:))
        database = url.map(Database.server) ?? database
        placements = reader.value(.placements, [PlacementSetting].init(setting:)) ?? placements
        poolSize = reader.value(.poolSize, Int.init(poolSize:))
        preparesStatements = reader.value(.preparedStatements, Bool.init(onOrOff:)) ?? preparesStatements
        announcements = reader.value(.announcementsUrl, PostgresConfiguration.init(setting:))
        if announcements != nil, url == nil, !reader.hasRejected(.databaseUrl) {
            reader.reject(
                .announcementsUrl,
                InvalidSetting("is another way to the database that CARILLON_DATABASE_URL names, which is not set")
            )
        }
        dataDirectory = reader.value(.dataDir) { $0 } ?? dataDirectory
        operatorToken = reader.value(.operatorToken, Secret.init(operatorToken:))
        operatorTokenPrevious = reader.value(.operatorTokenPrevious, Secret.init(operatorToken:))
        masterKey = reader.value(.masterKey, MasterKey.init(_:))
        masterKeyPrevious = reader.value(.masterKeyPrevious, MasterKey.init(_:))
    }

    /// Replicas on one server must share their secrets, so none of them may make its own.
    private func requireSecrets(from reader: inout SettingsReader) {
        if operatorToken == nil, !reader.hasRejected(.operatorToken) {
            reader.reject(
                .operatorToken,
                InvalidSetting("is required with CARILLON_DATABASE_URL: 32 characters or more")
            )
        }
        if masterKey == nil, !reader.hasRejected(.masterKey) {
            reader.reject(.masterKey, InvalidSetting("is required with CARILLON_DATABASE_URL: 32 bytes in base64"))
        }
    }
}
