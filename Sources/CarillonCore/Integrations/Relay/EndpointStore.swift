/// Why an endpoint is not stored.
package enum EndpointRefusal: Error, Sendable, Equatable {
    /// The network has ``Endpoint/maximumCount``.
    case tooMany
    /// Another one is asked about one of its types already.
    case interception(type: String, by: EndpointID)
}

/// All endpoints of all networks as they were at a moment, without what only shows how they fare.
package struct EndpointList: Sendable {
    /// Changes with every change of settings or states.
    package struct Version: Sendable, Equatable {
        package var count: Int
        /// The sum of their revisions, of which each is given out once.
        package var revisions: Int64

        package init(count: Int, revisions: Int64) {
            self.count = count
            self.revisions = revisions
        }
    }

    package var version: Version
    /// The endpoints of each network that has any, the oldest first.
    package var endpoints: [NetworkID: [Endpoint]]

    package init(version: Version, endpoints: [NetworkID: [Endpoint]]) {
        self.version = version
        self.endpoints = endpoints
    }
}

/// The endpoints of all networks, for those who ask with every event.
package protocol EndpointListSource: Sendable {
    /// All endpoints of all networks; `nil` when they are still of that version.
    func endpointList(unless version: EndpointList.Version?) async throws -> EndpointList?
}

/// The endpoints of networks and their secrets, which are encrypted at rest.
package protocol EndpointStore: Sendable {
    /// A network's endpoints, the oldest first.
    func endpoints(of network: NetworkID) async throws -> [Endpoint]
    /// Adds an endpoint with its secret, once as `answering` says.
    /// - Throws: ``EndpointRefusal``, whatever is stored at the same time, and ``IdempotentRequest/Failure``; nothing is
    ///   stored then.
    func addEndpoint(
        _ endpoint: Endpoint,
        secret: WebhookSecret,
        of network: NetworkID,
        answering: IdempotentRequest?
    ) async throws -> Creation
    /// Writes what `change` makes of an endpoint, in one transaction that no other change can come between. Its id and when
    /// it was made stay as they are.
    ///
    /// - Returns: The endpoint as it is now; `nil` when there is none.
    /// - Throws: ``EndpointRefusal``, and what `change` throws; nothing is written then.
    func updateEndpoint(
        _ id: EndpointID,
        of network: NetworkID,
        _ change: @escaping @Sendable (Endpoint) throws -> Endpoint
    ) async throws -> Endpoint?
    /// Removes an endpoint; `false` when there is none.
    func deleteEndpoint(_ id: EndpointID, of network: NetworkID) async throws -> Bool
    /// Makes `secret` the newest of an endpoint's, once as `answering` says; the former ones sign too for `overlap`, and the
    /// oldest no more when there are more than ``WebhookSignature/maximumSignedSecretCount``. Refused when there is no such
    /// endpoint.
    /// - Throws: ``IdempotentRequest/Failure``.
    func rotateEndpointSecret(
        of id: EndpointID,
        in network: NetworkID,
        to secret: WebhookSecret,
        overlap: Duration,
        answering: IdempotentRequest?
    ) async throws -> Creation
    /// The secrets that sign what an endpoint is sent, the newest first; none when there is no such endpoint.
    func endpointSecrets(of id: EndpointID, in network: NetworkID) async throws -> [WebhookSecret]
}

/// Where it is written down how endpoints fare that are asked.
package protocol EndpointLog: Sendable {
    /// Writes outcomes down; of endpoints that were removed nothing. The version of the list stays.
    func note(_ outcomes: [EndpointOutcome.Key: EndpointOutcome]) async throws
}

extension [Endpoint] {
    /// Whether an endpoint may stand among these, which do not hold it.
    package func check(_ endpoint: Endpoint) throws(EndpointRefusal) {
        guard count < Endpoint.maximumCount else { throw .tooMany }
        guard endpoint.settings.role.mode == .intercept else { return }
        for other in self where other.settings.role.mode == .intercept {
            guard let type = endpoint.settings.types.first(where: other.settings.concerns) else { continue }
            throw .interception(type: type, by: other.id)
        }
    }
}
