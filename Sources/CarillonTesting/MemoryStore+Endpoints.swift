package import CarillonCore

/// An endpoint with its secrets, the newest first.
struct MemoryEndpoint {
    var endpoint: Endpoint
    var secrets: [WebhookSecretRecord]
    /// Another one with each change.
    var revision: Int64
    /// Nothing has gone through since.
    var failingSince: Timestamp?
}

extension MemoryStore: EndpointStore {
    /// A network's endpoints, the oldest first.
    package func endpoints(of network: NetworkID) async throws -> [Endpoint] {
        try withNetwork(network) { $0.sortedEndpoints }
    }

    /// Adds an endpoint with its secret, once as `answering` says.
    package func addEndpoint(
        _ endpoint: Endpoint,
        secret: WebhookSecret,
        of network: NetworkID,
        answering request: IdempotentRequest?
    ) async throws -> Creation {
        try once(request, in: network) { network in
            try network.sortedEndpoints.check(endpoint)
            let revision = network.nextRevision()
            network.endpoints[endpoint.id] = MemoryEndpoint(
                endpoint: endpoint,
                secrets: [WebhookSecretRecord(secret: secret)],
                revision: revision
            )
            return true
        }
    }

    /// Writes what `change` makes of an endpoint; `nil` when there is none.
    package func updateEndpoint(
        _ id: EndpointID,
        of network: NetworkID,
        _ change: @escaping @Sendable (Endpoint) throws -> Endpoint
    ) async throws -> Endpoint? {
        try withNetwork(network) { network in
            guard let former = network.endpoints[id]?.endpoint else { return nil }
            let changed = try change(former)
            try network.sortedEndpoints.filter { $0.id != id }.check(changed)
            let revision = network.nextRevision()
            network.endpoints[id]?.endpoint = changed
            network.endpoints[id]?.revision = revision
            return changed
        }
    }

    /// Removes an endpoint; `false` when there is none.
    package func deleteEndpoint(_ id: EndpointID, of network: NetworkID) async throws -> Bool {
        try withNetwork(network) { network in
            network.replays[id] = nil
            network.groups = network.groups.filter {
                $1.group.leased || $1.group.lane != Lane(id, in: network.network.id)
            }
            return network.endpoints.removeValue(forKey: id) != nil
        }
    }

    /// Makes `secret` the newest of an endpoint's, once as `answering` says; refused when there is no such endpoint.
    package func rotateEndpointSecret(
        of id: EndpointID,
        in network: NetworkID,
        to secret: WebhookSecret,
        overlap: Duration,
        answering request: IdempotentRequest?
    ) async throws -> Creation {
        let now = clock.now()
        return try once(request, in: network) { network in
            let count = WebhookSignature.maximumSignedSecretCount
            guard network.endpoints[id] != nil else { return false }
            network.endpoints[id]?.secrets.rotate(to: secret, overlap: overlap, now: now, keeping: count)
            return true
        }
    }

    /// The secrets that sign what an endpoint is sent, the newest first; none when there is no such endpoint.
    package func endpointSecrets(of id: EndpointID, in network: NetworkID) async throws -> [WebhookSecret] {
        let now = clock.now()
        return try withNetwork(network) { network in
            (network.endpoints[id]?.secrets ?? []).filter { $0.isValid(at: now) }.map(\.secret)
        }
    }

    /// Writes down how endpoints fare that are asked.
    package func note(_ notes: [EndpointNote.Key: EndpointNote]) async throws {
        try withState { state in
            for (key, note) in notes {
                if let moment = note.succeededAt {
                    state.networks[key.network]?.endpoints[key.endpoint]?.endpoint.lastSuccessAt = moment
                }
                state.networks[key.network]?.endpoints[key.endpoint]?.endpoint.lastError = note.error
            }
        }
    }

    /// All endpoints of all networks; `nil` when they are still of that version.
    package func endpointList(unless version: EndpointList.Version?) async throws -> EndpointList? {
        try withState { state in
            let all = state.networks.values.flatMap(\.endpoints.values)
            let present = EndpointList.Version(
                count: all.count,
                revisions: all.reduce(0) { $0 + $1.revision }
            )
            guard present != version else { return nil }
            let endpoints = state.networks.mapValues { network in
                network.sortedEndpoints.map { endpoint in
                    var outline = endpoint
                    outline.lastSuccessAt = nil
                    outline.lastError = nil
                    return outline
                }
            }
            return EndpointList(version: present, endpoints: endpoints.filter { !$0.value.isEmpty })
        }
    }
}

extension MemoryNetwork {
    var sortedEndpoints: [Endpoint] {
        endpoints.values.map(\.endpoint).sorted { $0.id < $1.id }
    }

    fileprivate mutating func nextRevision() -> Int64 {
        lastRevision += 1
        return lastRevision
    }
}
