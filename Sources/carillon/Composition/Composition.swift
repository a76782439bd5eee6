import CarillonCore
import CarillonProviders
import Logging
import ServiceLifecycle
import UnixSignals

/// What the parts of a service stand on.
struct Groundwork: Sendable {
    let settings: Settings
    let storage: Storage
    let descriptors: DescriptorBudget
    /// Where the log provider writes.
    let output: LineWriter
    let logger: Logger

    /// The stores that routes and providers ask.
    var stores: PlacedStores { PlacedStores(placements: storage.placements, route: storage.route) }
}

/// The running service, wired: the only place where concrete types meet.
struct Composition: Sendable {
    /// How long the work in hand may take to be finished or given back after the first signal.
    private static let shutdownLimit = Duration.seconds(18)

    private let group: ServiceGroup
    /// Where the service listens, and whether it can work.
    let readiness: Readiness
    /// The operator's credential, configured or generated.
    let operatorToken: Secret

    /// Wires a service; nothing runs and nothing is connected yet.
    ///
    /// - Throws: ``ConfigurationError`` and ``StartError``.
    init(_ settings: Settings, output: LineWriter = .standardOutput, logger: Logger) throws {
        let descriptors = try DescriptorBudget(
            limit: DescriptorLimit.current.soft,
            databaseConnections: settings.databaseConnections
        )
        if let concern = descriptors.concern {
            logger.warning("Few connections fit", metadata: ["reason": "\(concern)"])
        }
        let storage = try Storage(settings, logger: logger)
        let ground = Groundwork(
            settings: settings,
            storage: storage,
            descriptors: descriptors,
            output: output,
            logger: logger
        )
        let pipeline = try Pipeline(ground)
        let servers = try Servers(ground, pipeline: pipeline)
        readiness = storage.readiness
        operatorToken = storage.secrets.operatorToken
        var configuration = ServiceGroupConfiguration(
            // In the order of dependency: the first to start is the last to stop, so that intake stops first.
            services: storage.services + [servers.management, servers.watch] + pipeline.services
                + [servers.open, Announcer(readiness: storage.readiness, settings: settings, logger: logger)],
            gracefulShutdownSignals: [.sigterm, .sigint],
            cancellationSignals: [.sigquit],
            logger: .silent
        )
        configuration.maximumGracefulShutdownDuration = Self.shutdownLimit
        group = ServiceGroup(configuration: configuration)
    }

    /// Works until SIGTERM, SIGINT or ``stop()``; SIGQUIT, or what takes too long, is cut short.
    ///
    /// - Throws: ``ConfigurationError`` when a port was taken meanwhile or the data directory cannot be used, ``StartError`` when a service could not start or failed.
    func run() async throws {
        do {
            try await group.run()
        } catch let error as CancellationError {
            throw error
        } catch let error as ConfigurationError {
            throw error
        } catch {
            if let mistake = ConfigurationError(error) { throw mistake }
            throw StartError("\(error)")
        }
    }

    /// Lets ``run()`` end as a signal does.
    func stop() async {
        await group.triggerGracefulShutdown()
    }
}
