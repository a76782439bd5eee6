import CarillonCore
import CarillonEdge
import CarillonFaces
import CarillonHTTP
import CarillonStore
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Metrics
import NIOCore
import Postgres
import ServiceLifecycle

/// The two ports.
struct Servers: Sendable {
    /// The public API.
    let open: any Service
    /// Health and metrics.
    let management: any Service
    /// What keeps the metrics of health.
    let watch: any Service

    init(
        _ settings: Settings,
        storage: Storage,
        descriptors: DescriptorBudget,
        pipeline: Pipeline,
        logger: Logger
    ) throws {
        let ingestor = pipeline.ingestor
        let lanes = pipeline.lanes
        let outcomes = pipeline.outcomes
        let providers = pipeline.providers
        let announcements = storage.announcements
        let spools = SpoolDirectory(path: "\(settings.dataDirectory)/imports")
        spools.removeLeftovers()
        let services = Services(
            accounts: storage.accounts,
            directory: storage.directory,
            devices: storage.devices,
            toggles: storage.toggles,
            tags: storage.tags,
            templates: storage.templates,
            catalog: pipeline.catalog,
            endpoints: storage.endpoints,
            endpointsChanged: { [book = storage.endpointBook] network in await book.changed(in: network) },
            endpointEnabled: { lane in await lanes.credentialConfirmed(LaneSelection(lane)) },
            endpointCaller: providers.endpoints,
            relays: storage.relays,
            sources: storage.sources,
            recipients: storage.recipients,
            accept: { [readiness = storage.readiness] events, network in
                // Nobody here would expand them before the tables are those of this release.
                guard readiness.hasDatabase else { throw Problem.migrating }
                return try await ingestor.accept(events, for: network)
            },
            history: storage.history,
            journal: storage.journal,
            recorder: storage.recorder,
            statistics: StatisticsReader(recorder: storage.recorder, store: storage.statistics),
            survey: PostgresNetworkSurvey(pool: storage.pool, outbox: storage.outbox),
            providers: providers.all.map(\.name).filter { $0 != .relay },
            lanes: { lanes.statuses },
            stuckQueue: { [readiness = storage.readiness] in readiness.stuckQueue },
            releaseBrake: { lane, end in try await lanes.believe(lane, until: end) },
            credentials: storage.credentials,
            credentialFormats: providers.formats,
            credentialChanged: { network, provider, appID in
                await providers.forgetCredentials(of: network)
                announcements.announce(.credentials, in: network)
                let selection = LaneSelection(networkID: network, provider: provider, appID: appID)
                outcomes.credentialChanged(selection)
                await lanes.credentialChanged(selection)
            },
            credentialConfirmed: { network, provider, appID in
                await providers.forgetCredentials(of: network)
                await lanes.credentialConfirmed(LaneSelection(networkID: network, provider: provider, appID: appID))
            },
            faceStore: storage.faces,
            faceIndex: { [book = storage.faceBook] in try await book.index() },
            facesChanged: { [book = storage.faceBook] network in await book.changed(in: network) },
            faceSecret: FaceSecret(
                masterKey: storage.secrets.masterKey.bytes,
                previous: settings.masterKeyPrevious?.bytes
            ),
            operatorToken: OperatorToken(storage.secrets.operatorToken, previous: settings.operatorTokenPrevious),
            asker: providers.introspection,
            pages: PagePlaces(connections: storage.connections, processors: System.coreCount),
            announcements: announcements,
            egress: settings.egress,
            rates: pipeline.rates,
            metrics: storage.metrics,
            logger: logger,
            clock: storage.clock
        )
        var limits = ServerSettings()
        limits.trustedProxies = settings.trustedProxies
        limits.corsOrigins = settings.corsOrigins
        limits.connections = descriptors.publicConnections
        open = Listener(
            router: PublicRouter.make(
                services,
                faces: [
                    AblyFace(services), AmityFace(services), BuzzFace(services), MatrixFace(services),
                    MobileFirstFace(services),
                ],
                openAPI: try String(contentsOfFile: settings.description.path, encoding: .utf8),
                facesOpenAPI: try String(contentsOfFile: settings.facesDescription.path, encoding: .utf8),
                console: try settings.console.map { try ConsoleFiles(directory: $0.path) },
                spools: spools,
                problems: .stored,
                settings: limits
            ),
            settings: limits,
            address: settings.listen,
            port: .open,
            readiness: storage.readiness,
            metrics: storage.metrics,
            logger: logger
        )
        let probe = ReadinessProbe(
            readiness: storage.readiness,
            pool: storage.pool,
            clock: storage.databaseClock,
            watch: storage.watch,
            oldestWait: { [outbox = storage.outbox] in try await outbox.oldestWait() }
        )
        let metrics = storage.metrics
        watch = ReadinessWatch(metrics: ReadinessMetrics(factory: metrics)) { await probe.look() }
        limits.connections = descriptors.managementConnections
        management = Listener(
            router: ManagementRouter.make(
                reasonsNotReady: { await probe.look().reasons },
                warnings: { [descriptors.concern].compactMap(\.self) },
                exposition: { metrics.exposition() },
                metrics: metrics
            ),
            settings: limits,
            address: settings.managementListen,
            port: .management,
            readiness: storage.readiness,
            metrics: metrics,
            logger: logger
        )
    }
}

/// One listening port.
private struct Listener: Service {
    private let application: Application<RouterResponder<CarillonRequestContext>>
    private let address: ListenAddress
    private let setting: Setting

    init(
        router: Router<CarillonRequestContext>,
        settings: ServerSettings,
        address: ListenAddress,
        port: Readiness.Port,
        readiness: Readiness,
        metrics: any MetricsFactory,
        logger: Logger
    ) {
        self.address = address
        setting = port == .open ? .listen : .managementListen
        application = Application(
            responder: router.buildResponder(),
            server: settings.server(
                InboundConnections(settings, port: port == .open ? "public" : "management", metrics: metrics),
                logger: logger
            ),
            configuration: settings.configuration(address: .hostname(address.host, port: address.port)),
            onServerRunning: { channel in
                let number = channel.localAddress?.port ?? address.port
                readiness.listens(port, at: ListenAddress(host: address.host, port: number))
            },
            logger: logger
        )
    }

    func run() async throws {
        do {
            try await application.run()
        } catch let error as IOError {
            let reason = ListenAddress.reason(error)
            throw ConfigurationError(mistakes: [ConfigurationError.cannotListen(setting, address, reason)])
        }
    }
}

extension ProblemMapping {
    /// Tells callers to come back when the tables are not there yet, or not yet those of this release.
    fileprivate static let stored = ProblemMapping { error in
        if let error = error as? StoreError, error == .cannotUnseal || error == .wrongMasterKey {
            return .wrongMasterKey
        }
        guard let state = (error as? PostgresError)?.sqlState else { return nil }
        guard [.undefinedTable, .undefinedColumn].contains(state) else { return nil }
        return .migrating
    }
}
