import CarillonCore
import CarillonTesting
import Foundation
import Logging
import Postgres
import Synchronization

@testable import CarillonStore
@testable import EmbeddedPostgres

/// The throw-away cluster that all tests of one process share, each in a database of its own.
enum TestDatabase {
    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    static let migrations = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Migrations").standardizedFileURL.path

    private static let directory = "/tmp/carillon-store-\(ProcessInfo.processInfo.processIdentifier)"
    private static let count = Mutex(0)
    private static let cluster = EmbeddedCluster(
        configuration: EmbeddedClusterConfiguration(
            dataDirectory: directory,
            settings: [
                "fsync": "off", "deadlock_timeout": "50ms", "shared_buffers": "128MB", "max_connections": "300",
            ],
            throwAwayDirectory: directory
        ),
        logger: logger
    )
    private static let start = Task<String, any Error> {
        // Swift Testing has no hook for the end of the run.
        atexit { TestDatabase.stopAtExit() }
        return try await cluster.start()
    }
    private static let template = Task<String, any Error> { try await makeTemplate(migrations) }
    private static let formerTemplates = Mutex<[Int: Task<String, any Error>]>([:])

    /// Where to find a new database, migrated or empty.
    static func make(migrated: Bool = true) async throws -> PostgresConfiguration {
        let name = try await create(from: migrated ? template.value : nil)
        return try await configuration(of: name)
    }

    /// Where to find a new database as a former release left it, with the migrations up to a number; by way of a proxy, if one is
    /// given.
    static func make(upTo version: Int, through proxy: CuttingProxy? = nil) async throws -> PostgresConfiguration {
        let template = formerTemplates.withLock { templates in
            let template = templates[version] ?? Task { try await makeTemplate(copyMigrations(upTo: version)) }
            templates[version] = template
            return template
        }
        return try await configuration(of: create(from: template.value), through: proxy)
    }

    /// Something between a test and the cluster that all share.
    static func proxy() async throws -> CuttingProxy {
        let fields = try await start.value.split(separator: " ").map { $0.split(separator: "=", maxSplits: 1) }
        let values = Dictionary(fields.map { (String($0[0]), String($0[1])) }) { _, last in last }
        return try CuttingProxy(server: "\(values["host"] ?? "")/.s.PGSQL.\(values["port"] ?? "")")
    }

    private static func makeTemplate(_ directory: String) async throws -> String {
        let name = try await create(from: nil)
        try await PostgresPool.withPool(configuration: configuration(of: name), logger: logger) { pool in
            _ = try await Migrator(pool: pool, directory: directory, logger: logger).migrate()
        }
        return name
    }

    private static func copyMigrations(upTo version: Int) async throws -> String {
        _ = try await start.value
        let copy = "\(directory)/migrations-\(version)"
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
        for migration in try Migration.all(in: migrations).prefix(version) {
            try migration.text.write(toFile: "\(copy)/\(migration.name).sql", atomically: true, encoding: .utf8)
        }
        return copy
    }

    private static func create(from template: String?) async throws -> String {
        let number = count.withLock { count in
            count += 1
            return count
        }
        let name = "test_\(number)"
        var configuration = try await configuration(of: "carillon")
        configuration.poolSize = 1
        try await PostgresPool.withPool(configuration: configuration, logger: logger) { pool in
            try await pool.withConnection { session in
                let source = template ?? "template1"
                try session.execute(
                    .unprepared("CREATE DATABASE \(identifier: name) TEMPLATE \(identifier: source)")
                )
            }
        }
        return name
    }

    private static func configuration(
        of database: String,
        through proxy: CuttingProxy? = nil
    ) async throws -> PostgresConfiguration {
        let way = proxy.map { " host=\($0.directory)" } ?? ""
        var configuration = try PostgresConfiguration(url: "\(try await start.value) dbname=\(database)\(way)")
        configuration.poolSize = 4
        configuration.acquireTimeout = .seconds(30)
        configuration.planForStores()
        configuration.claimBundles()
        configuration.joinUnitsOfWork()
        return configuration
    }

    // At exit Subprocess has stopped watching its children already, so this does without it.
    private static func stopAtExit() {
        guard let processID = PostmasterFile(path: "\(directory)/cluster/postmaster.pid")?.processID else { return }
        kill(processID, SIGQUIT)
        waitpid(processID, nil, 0)
        try? FileManager.default.removeItem(atPath: directory)
    }
}

/// Lends a pool on a database of its own.
func withDatabase<Value>(
    _ configuration: PostgresConfiguration? = nil,
    migrated: Bool = true,
    _ body: (PostgresPool) async throws -> Value
) async throws -> Value {
    let configuration = if let configuration { configuration } else { try await TestDatabase.make(migrated: migrated) }
    return try await PostgresPool.withPool(configuration: configuration, logger: TestDatabase.logger, body)
}

/// Lends all stores on a database of their own.
func withStores<Value>(
    _ configuration: PostgresConfiguration? = nil,
    _ body: (StoreScene, PostgresPool) async throws -> Value
) async throws -> Value {
    try await withDatabase(configuration) { pool in
        let scene = try StoreScene(pool: pool)
        for id in [scene.network, scene.otherNetwork] {
            let network = Network(id: id, createdAt: WallClock.system.now())
            _ = try await scene.accounts.createNetwork(
                NetworkCredentials(network: network, webhookSecrets: [], userTokenKeys: [], apiKeys: [])
            )
        }
        return try await body(scene, pool)
    }
}

extension StoreScene {
    init(pool: PostgresPool) throws {
        guard let box = SecretBox(masterKey: [UInt8](repeating: 7, count: 32)) else { throw StoreError.cannotUnseal }
        let ids = UUIDv7Generator()
        var accounts = PostgresAccountStore(pool: pool, box: box, ids: ids)
        accounts.former.rest = .zero
        let book = EndpointBook(store: PostgresEndpointStore(accounts: accounts), logger: TestDatabase.logger)
        let feedback = FeedbackDesk(endpoints: book, ids: ids)
        let outbox = PostgresOutbox(pool: pool, ids: ids, endpoints: book)
        self.init(
            network: NetworkID(trusted: "acme"),
            otherNetwork: NetworkID(trusted: "other"),
            ids: ids,
            inbox: PostgresEventInbox(pool: pool),
            recipients: PostgresRecipientSource(pool: pool),
            queue: outbox,
            accounts: accounts,
            credentials: PostgresProviderCredentialStore(pool: pool, box: box),
            directory: PostgresDirectoryStore(pool: pool, feedback: feedback),
            toggles: PostgresToggleStore(pool: pool),
            devices: PostgresDeviceStore(pool: pool, feedback: feedback),
            tags: PostgresTagStore(pool: pool, feedback: feedback),
            templates: PostgresTemplateStore(pool: pool),
            endpoints: PostgresEndpointStore(accounts: accounts),
            faces: PostgresFaceStore(accounts: accounts),
            messages: PostgresEndpointStore(accounts: accounts),
            questions: PostgresEndpointStore(accounts: accounts),
            relays: PostgresRelayHistory(pool: pool, ids: ids),
            history: PostgresEventHistory(pool: pool, ids: ids),
            sources: PostgresSourceStore(accounts: accounts, inbox: PostgresEventInbox(pool: pool)),
            polls: PostgresSourceStore(accounts: accounts, inbox: PostgresEventInbox(pool: pool)),
            statistics: PostgresStatisticsStore(pool: pool),
            journal: PostgresJournalStore(pool: pool),
            survey: PostgresNetworkSurvey(pool: pool, outbox: outbox),
            passTime: {
                try await pool.withConnection { session in
                    try session.execute("UPDATE inbox SET run_at = now()")
                    try session.execute("UPDATE deliveries SET run_at = now()")
                    try session.execute("UPDATE sources SET run_at = now()")
                }
                try await RemovalSweep(pool: pool, listeners: feedback.listeners()).sweep()
            }
        )
    }
}
