package import Logging
import ServiceLifecycle

/// Knows the endpoints of all networks, for those who ask with every event: mostly a network has none.
///
/// What is older than ``lifetime`` is not answered, so that it is always younger than ``Endpoint/onset``: whoever accepts an event
/// for which an endpoint is in use knows of the endpoint.
package final class EndpointCache: Service {
    /// How old what is known may be.
    package static let lifetime = Duration.seconds(8)

    private let list: WatchedList<EndpointList>

    package init(
        store: any EndpointListSource,
        announcements: Announcements = Announcements(),
        logger: Logger,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        list = WatchedList(
            .endpoints,
            lifetime: Self.lifetime,
            pollInterval: .seconds(2),
            rest: .seconds(15),
            announcements: announcements,
            logger: logger,
            now: now,
            read: { last in try await store.endpointList(unless: last?.version) },
            noteChange: { list, former in Self.tell(list, since: former, logger) }
        )
    }

    /// Reads from time to time, and when told to, until graceful shutdown.
    package func run() async throws { try await list.run() }

    /// A network's endpoints, the oldest first.
    ///
    /// - Throws: What the store throws, when it has to be asked.
    package func endpoints(of network: NetworkID) async throws -> [Endpoint] {
        try await list.current()?.endpoints[network] ?? []
    }

    /// Which of these networks have endpoints, with them.
    package func endpoints(of networks: Set<NetworkID>) async throws -> [NetworkID: [Endpoint]] {
        guard let all = try await list.current()?.endpoints, !all.isEmpty else { return [:] }
        return all.filter { networks.contains($0.key) }
    }

    /// All networks that have endpoints, with them.
    package func endpointsOfAll() async throws -> [NetworkID: [Endpoint]] {
        try await list.current()?.endpoints ?? [:]
    }

    /// What was known of these networks when it was last looked for, for those who cannot wait.
    package func lastKnown(of networks: Set<NetworkID>) -> [NetworkID: [Endpoint]] {
        list.lastKnown?.endpoints.filter { networks.contains($0.key) } ?? [:]
    }

    /// Something was changed here: it is known when this returns, and soon to the other replicas.
    package func changed(in network: NetworkID) async { await list.changed(in: network) }

    /// Says which endpoints were taken into use and out of use.
    private static func tell(_ list: EndpointList, since former: EndpointList, _ logger: Logger) {
        for (network, endpoints) in list.endpoints {
            let states = Dictionary(
                (former.endpoints[network] ?? []).map { ($0.id, $0.state) },
                uniquingKeysWith: { $1 }
            )
            for endpoint in endpoints where states[endpoint.id].map({ $0 != endpoint.state }) ?? false {
                logger.notice(
                    "An endpoint is \(endpoint.state.rawValue)",
                    metadata: [
                        "network": "\(network)", "endpoint": "\(endpoint.id)",
                        "reason": "\(endpoint.stateReason ?? "enabled by an admin")",
                    ]
                )
            }
        }
    }
}
