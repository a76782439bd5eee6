package import CarillonCore
import CoreMetrics
package import Logging
package import ServiceLifecycle
import Synchronization
import Testing

/// The whole pipeline on a database, with one network, a channel and people with `log` devices.
package final class PipelineScene: Sendable {
    /// So many groups of a device or three are sent at a time where its limits are ``fewAtATime``.
    package static let mostGroupsAtATime = 8
    /// Limits that a lane is full with after a few groups.
    package static let fewAtATime = {
        var limits = FairQueueLimits.sending
        limits.slotsPerLane = mostGroupsAtATime
        return limits
    }()

    package let store: StoreScene
    package let queue: WatchedQueue
    /// What sends, unless there are others.
    package let provider: ScriptedProvider
    package let ingestor: Ingestor
    package let lanes: LaneHealth
    package let outcomes: OutcomeIntake
    package let claimer: Claimer
    package let settler: Settler
    package let sender: Sender
    package let fanout: FanoutWorker
    package let recorder = StatisticsRecorder()
    package var network: NetworkID { store.network }
    private let nextMessage = Mutex(0)
    private let running = Mutex<ServiceGroup?>(nil)

    /// A scene on a store; what it is not told is as usual, and it is not tried again later but at once.
    package init(
        store: StoreScene,
        provider: ScriptedProvider = ScriptedProvider(),
        providers: [any Provider]? = nil,
        recipients: (any RecipientSource)? = nil,
        outbox: (any OutboxWriter)? = nil,
        catalog: TemplateCatalog? = nil,
        settleInterval: Duration = .milliseconds(250),
        patience: Duration = .seconds(40),
        eventCapacity: Int = FanoutQueue.usualCapacity,
        limits: FairQueueLimits = .sending,
        isRelaying: Bool = false,
        asking caller: (any EndpointCaller)? = nil,
        logger: Logger = TestDatabase.logger,
        wrappingOutcomes: (OutcomeIntake) -> any OutcomeSink = { $0 },
        wrappingSettler: (Settler) -> any SettlementSink = { $0 }
    ) throws {
        let watched = WatchedQueue(store.queue)
        self.store = store
        self.queue = watched
        self.provider = provider
        let metrics = PipelineMetrics(factory: NOOPMetricsHandler.instance)
        let watch = QueueWatch(factory: NOOPMetricsHandler.instance, logger: logger)
        var schedule = RetrySchedule()
        schedule.steps = [.zero]
        schedule.last = .zero
        let sending = SendingQueue(claims: watched, limits: limits, logger: logger)
        lanes = LaneHealth(store: watched, devices: store.devices, queue: sending, logger: logger)
        settler = Settler(log: store.queue, lanes: lanes, metrics: metrics, statistics: recorder, logger: logger)
        outcomes = OutcomeIntake(
            policy: OutcomePolicy(schedule: schedule),
            lanes: lanes,
            settler: settler,
            metrics: metrics
        )
        let settlements = wrappingSettler(settler)
        sender = Sender(
            queue: sending,
            reader: store.queue,
            claims: watched,
            outcomes: wrappingOutcomes(outcomes),
            settlements: settlements,
            lanes: lanes,
            providers: providers ?? [provider],
            pageInterval: settleInterval,
            metrics: metrics,
            statistics: recorder,
            watch: watch,
            logger: logger
        )
        claimer = Claimer(queue: sending, claims: watched, settlements: settlements, metrics: metrics, watch: watch)
        let events = FanoutQueue(inbox: store.inbox, capacity: eventCapacity, logger: logger)
        let source: any RecipientSource = recipients ?? store.recipients
        let writer: any OutboxWriter = outbox ?? store.queue
        fanout = FanoutWorker(
            queue: events,
            inbox: store.inbox,
            recipients: source,
            expander: Expander(catalog: try catalog ?? .english(), ids: store.ids),
            outbox: writer,
            sending: sending,
            endpoints: { networks in
                guard isRelaying else { return [:] }
                var endpoints: [NetworkID: [Endpoint]] = [:]
                for network in networks { endpoints[network] = try await store.endpoints.endpoints(of: network) }
                return endpoints
            },
            interceptor: caller.map { [lanes] caller in
                Interceptor(caller: caller, source: store.questions, circuits: lanes, metrics: metrics, logger: logger)
            },
            ids: store.ids,
            patience: patience,
            metrics: metrics,
            statistics: recorder,
            watch: watch,
            logger: logger
        )
        ingestor = Ingestor(
            inbox: store.inbox,
            fanout: events,
            endpoints: { network in isRelaying ? try await store.endpoints.endpoints(of: network) : [] },
            ids: store.ids,
            clock: .system,
            metrics: metrics,
            statistics: recorder
        )
    }

    /// Runs the pipeline on a database of its own around `body`, and shuts it down gracefully afterwards.
    package static func run(
        members: Int = 3,
        provider: ScriptedProvider = ScriptedProvider(),
        providers: [any Provider]? = nil,
        settleInterval: Duration = .milliseconds(250),
        limits: FairQueueLimits = .sending,
        isRelaying: Bool = false,
        asking caller: (any EndpointCaller)? = nil,
        wrappingOutcomes: (OutcomeIntake) -> any OutcomeSink = { $0 },
        wrappingSettler: (Settler) -> any SettlementSink = { $0 },
        _ body: @Sendable @escaping (PipelineScene) async throws -> Void
    ) async throws {
        try await StoreScene.withStores { store, _ in
            let scene = try PipelineScene(
                store: store,
                provider: provider,
                providers: providers,
                settleInterval: settleInterval,
                limits: limits,
                isRelaying: isRelaying,
                asking: caller,
                wrappingOutcomes: wrappingOutcomes,
                wrappingSettler: wrappingSettler
            )
            try await scene.populate(members: members)
            try await scene.whileRunning { try await body(scene) }
        }
    }

    /// Starts services, usually all of this scene's, for the time of `body`.
    package func whileRunning(
        _ services: [any Service]? = nil,
        _ body: @Sendable @escaping () async throws -> Void
    ) async throws {
        let group = ServiceGroup(
            services: services ?? [lanes, settler, sender, claimer, fanout],
            logger: TestDatabase.logger
        )
        running.withLock { $0 = group }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let result = await Result { try await body() }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            try result.get()
        }
    }

    /// Tells this scene's services to stop, and does not wait for them.
    package func beginShutdown() {
        let group = running.withLock(\.self)
        Task { await group?.triggerGracefulShutdown() }
    }

    package func populate(members: Int) async throws { try await populate(network, members: members) }

    /// Makes a network with nobody in it, unless there is one.
    package func makeNetwork(_ network: NetworkID) async throws {
        try await store.accounts.createNetwork(Network(id: network, createdAt: WallClock.system.now()))
    }

    /// Makes a network whose channel `general` has that many members with a device each.
    package func populate(_ network: NetworkID, members: Int) async throws {
        try await makeNetwork(network)
        let users = (0..<members).map { UserID(trusted: "user-\($0)") }
        try await store.directory.replaceMembers(of: "general", with: users, in: network)
        try await withThrowingTaskGroup(of: Void.self) { [store] tasks in
            for user in users {
                let device = Device(DeviceID(trusted: "device of \(user)"), of: user)
                tasks.addTask { _ = try await store.devices.putDevice(device, in: network) }
            }
            try await tasks.waitForAll()
        }
    }

    /// Posts a message from somebody who has no device.
    @discardableResult
    package func post(in other: NetworkID? = nil) async throws -> EventID {
        let number = nextMessage.withLock { number in
            number += 1
            return number
        }
        return try await post(number, in: other).id
    }

    package func postAgain() async throws -> Receipt { try await post(nextMessage.withLock(\.self), in: nil) }

    private func post(_ number: Int, in other: NetworkID?) async throws -> Receipt {
        let body = """
            {"id":"evt-\(number)","type":"message.sent","data":{"channel":{"id":"general"},"user":{"id":"sender"},\
            "message":{"type":"text","text":"Hello"}}}
            """
        guard
            case .single(let event) = try EventParser(clock: .system).parse(
                body: Array(body.utf8),
                fallbackSourceID: nil
            )
        else { throw StoreAway() }
        return try #require(await ingestor.accept([event], for: other ?? network).first)
    }

    /// Waits until an event is done and answers what became of it.
    package func finished(_ id: EventID, in other: NetworkID? = nil) async throws -> EventStatus {
        let network = other ?? network
        return try await eventually { [store] in
            let status = try? await store.history.event(id, in: network)
            return status?.state == .done ? status : nil
        }
    }
}
