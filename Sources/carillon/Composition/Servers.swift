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

struct Servers: Sendable {
    /// The public API.
    let open: any Service
    /// Health and metrics.
    let management: any Service
    /// What keeps the metrics of health.
    let watch: any Service

    init(_ ground: Groundwork, pipeline: Pipeline) throws {
        let (settings, storage, descriptors) = (ground.settings, ground.storage, ground.descriptors)
        let spools = SpoolDirectory(path: "\(settings.dataDirectory)/imports")
        spools.removeLeftovers()
        let services = Services(ground, pipeline)
        var limits = ServerSettings()
        limits.trustedProxies = settings.trustedProxies
        limits.corsOrigins = settings.corsOrigins
        limits.connections = descriptors.publicConnections
        let faces: [any Face] = [
            AblyFace(services), AmityFace(services), BuzzFace(services), MatrixFace(services),
            MobileFirstFace(services),
        ]
        let intakes = LoopIntakes(services, faces: faces, settings: limits)
        open = Listener(
            router: PublicRouter.make(
                services,
                faces: faces,
                openAPI: try String(contentsOfFile: settings.description.path, encoding: .utf8),
                facesOpenAPI: try String(contentsOfFile: settings.facesDescription.path, encoding: .utf8),
                console: try settings.console.map { try ConsoleFiles(directory: $0.path) },
                spools: spools,
                problems: .stored(inSeveral: storage.list != nil),
                settings: limits
            ),
            port: .open,
            limits,
            on: ground,
            intakes: { intakes.intakes(of: $0) },
            failures: services.failures
        )
        let looks = HealthLooks(storage, concern: descriptors.concern)
        let metrics = storage.metrics
        watch = ReadinessWatch(
            metrics: ReadinessMetrics(
                storage.readiness,
                factory: metrics,
                placements: Dictionary(uniqueKeysWithValues: storage.placements.map { ($0.name, $0.metrics) })
            )
        ) { await looks.all() }
        limits.connections = descriptors.managementConnections
        management = Listener(
            router: ManagementRouter.make(
                health: { await looks.health() },
                exposition: { metrics.exposition() },
                metrics: metrics
            ),
            port: .management,
            limits,
            on: ground
        )
    }
}

extension Services {
    /// What routes need, of all placements.
    fileprivate convenience init(_ ground: Groundwork, _ pipeline: Pipeline) {
        let (settings, storage, stores) = (ground.settings, ground.storage, ground.stores)
        let (parts, providers, announcements) = (pipeline.parts, pipeline.providers, storage.announcements)
        let index = PlacedFaceIndex(
            storage.placements.map { placement in
                let state = placement.state
                return PlacedFaceIndex.Source(placement.name, placement.faceCache) { state.problem }
            }
        )
        let caches = stores.placed { (endpoints: $0.endpointCache, faces: $0.faceCache) }
        self.init(
            accounts: storage.accounts,
            directory: stores.directory,
            devices: stores.devices,
            toggles: stores.toggles,
            tags: stores.tags,
            templates: stores.templates,
            catalog: pipeline.catalog,
            endpoints: stores.endpoints,
            endpointsChanged: { network in await (try? caches.of(network))?.endpoints.changed(in: network) },
            endpointEnabled: { lane in
                await (try? parts.of(lane.networkID))?.lanes.credentialConfirmed(LaneSelection(lane))
            },
            endpointCaller: providers.endpoints,
            relays: stores.relays,
            sources: stores.sources,
            recipients: stores.recipients,
            accept: pipeline.accept,
            history: stores.history,
            journal: storage.journal,
            recorder: storage.recorder,
            statistics: StatisticsReader(recorder: storage.recorder, store: stores.statistics),
            reportSource: stores.reportSource,
            placements: PlacementAdministration(storage, migrations: settings.migrations.path),
            route: storage.route,
            addresses: AddressLookup(stores.placed { $0.devices as any AddressStore }),
            providers: providers.all.map(\.name).filter(ProviderName.allCases.contains),
            lanes: pipeline.laneStatuses,
            stuckQueue: { [list = storage.list, states = stores.placed(\.state)] network in
                states.ports[list?.directory.lastKnown(network) ?? .home]?.stuckQueue
            },
            releaseBrake: { lane, end in try await parts.toWrite(lane.networkID).lanes.believe(lane, until: end) },
            credentials: stores.credentials,
            credentialFormats: providers.formats,
            credentialChanged: { network, provider, appID in
                await providers.forgetCredentials(of: network)
                announcements.announce(.credentials, in: network)
                let selection = LaneSelection(networkID: network, provider: provider, appID: appID)
                guard let part = try? await parts.of(network) else { return }
                part.outcomes.credentialChanged(selection)
                await part.lanes.credentialChanged(selection)
            },
            credentialConfirmed: { network, provider, appID in
                await providers.forgetCredentials(of: network)
                let selection = LaneSelection(networkID: network, provider: provider, appID: appID)
                await (try? parts.of(network))?.lanes.credentialConfirmed(selection)
            },
            faceStore: stores.faces,
            faceLookup: { [cache = storage.home.faceCache, list = storage.list] in
                list == nil ? FaceLookup(try await cache.index()) : await index.lookup()
            },
            rememberedFaces: { [cache = storage.home.faceCache, list = storage.list] in
                list == nil ? cache.fresh.map { FaceLookup($0.index) } : index.remembered()
            },
            facesChanged: { network in await (try? caches.of(network))?.faces.changed(in: network) },
            faceSecret: FaceSecret(
                masterKey: storage.secrets.masterKey.bytes,
                previous: settings.masterKeyPrevious?.bytes
            ),
            operatorToken: OperatorToken(storage.secrets.operatorToken, previous: settings.operatorTokenPrevious),
            asker: providers.introspection,
            pages: PageSemaphore(connections: settings.databaseConnections, processors: System.coreCount),
            announcements: announcements,
            egress: settings.egress,
            rates: pipeline.rates,
            metrics: storage.metrics,
            logger: ground.logger,
            clock: storage.clock
        )
    }
}

private struct Listener: Service {
    private let application: Application<RouterResponder<CarillonRequestContext>>
    private let address: ListenAddress
    private let setting: Setting

    init(
        router: Router<CarillonRequestContext>,
        port: Readiness.Port,
        _ settings: ServerSettings,
        on ground: Groundwork,
        intakes: (@Sendable (any EventLoop) -> [any RequestIntake])? = nil,
        failures: FailedRequests = FailedRequests()
    ) {
        let (isOpen, readiness, logger) = (port == .open, ground.storage.readiness, ground.logger)
        let address = isOpen ? ground.settings.listen : ground.settings.managementListen
        self.address = address
        setting = isOpen ? .listen : .managementListen
        application = Application(
            responder: router.buildResponder(),
            server: settings.server(
                InboundConnections(settings, port: isOpen ? "public" : "management", metrics: ground.storage.metrics),
                logger: logger,
                intakes: intakes,
                failures: failures
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
    /// Tells callers to come back when the tables are not there yet, or not yet those of this release; where networks are in several
    /// placements, also that it is the network's own that is away.
    fileprivate static func stored(inSeveral areSeveral: Bool) -> ProblemMapping {
        ProblemMapping { error in
            switch error as? StoreError {
            case .cannotUnseal?, .wrongMasterKey?: return .wrongMasterKey
            case .notReady?: return .starting
            // Somebody has deleted it meanwhile.
            case .unknownNetwork?: return .notFound()
            case .unreadable?, nil: break
            }
            guard let error = error as? PostgresError else { return nil }
            if let state = error.sqlState, [.undefinedTable, .undefinedColumn].contains(state) { return .migrating }
            if error.isOfMovingNetwork { return .networkMoving }
            return areSeveral && error.isConnectivity ? .placementUnavailable("its PostgreSQL does not answer") : nil
        }
    }
}
