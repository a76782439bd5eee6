package import Logging

/// Knows the endpoints of all networks, for those who ask with every event: mostly a network has none.
///
/// What is older than ``lifetime`` is not answered, so that it is always younger than ``Endpoint/onset``: whoever accepts an event
/// for which an endpoint is in use knows of the endpoint.
package typealias EndpointCache = WatchedList<EndpointList>

extension WatchedList where List == EndpointList {
    /// How old what is known may be.
    package static var lifetime: Duration { .seconds(8) }

    package convenience init(
        store: any EndpointListSource,
        announcements: Announcements = Announcements(),
        logger: Logger,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.init(
            .endpoints,
            lifetime: Self.lifetime,
            pollInterval: .seconds(2),
            rest: .seconds(15),
            announcements: announcements,
            logger: logger,
            now: now,
            read: { last in try await store.endpointList(unless: last?.version) },
            noteChange: { list, former in list.tell(since: former, logger) }
        )
    }

    /// A network's endpoints, the oldest first.
    ///
    /// - Throws: What the store throws, when it has to be asked.
    package func endpoints(of network: NetworkID) async throws -> [Endpoint] {
        try await current()?.endpoints[network] ?? []
    }

    /// Which of these networks have endpoints, with them.
    package func endpoints(of networks: Set<NetworkID>) async throws -> [NetworkID: [Endpoint]] {
        guard let all = try await current()?.endpoints, !all.isEmpty else { return [:] }
        return all.filter { networks.contains($0.key) }
    }

    /// All networks that have endpoints, with them.
    package func endpointsOfAll() async throws -> [NetworkID: [Endpoint]] {
        try await current()?.endpoints ?? [:]
    }

    /// What was known of these networks when it was last looked for, for those who cannot wait.
    package func lastKnown(of networks: Set<NetworkID>) -> [NetworkID: [Endpoint]] {
        lastKnown?.endpoints.filter { networks.contains($0.key) } ?? [:]
    }
}

extension EndpointList {
    /// Says which endpoints were taken into use and out of use.
    fileprivate func tell(since former: EndpointList, _ logger: Logger) {
        for (network, endpoints) in endpoints {
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
