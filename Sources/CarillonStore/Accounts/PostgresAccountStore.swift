package import CarillonCore
package import Postgres

/// Networks and their credentials; secrets are sealed with the master key, of API keys only a hash is kept.
package struct PostgresAccountStore: AccountStore, AccountSecrets {
    private static let pause = Duration.milliseconds(100)

    let pool: PostgresPool
    let box: SecretBox
    let ids: UUIDv7Generator
    /// What is left of networks that were deleted.
    package var former: FormerNetworks
    /// For how long making a network waits for a former one of its id to be gone.
    package var patience = Duration.seconds(4)

    package var accounts: Placed<PostgresAccountStore> { Placed(self) }

    /// A store in the database of `pool`; `ids` orders secrets by their making.
    package init(pool: PostgresPool, box: SecretBox, ids: UUIDv7Generator) {
        self.pool = pool
        self.box = box
        self.ids = ids
        former = FormerNetworks(pool: pool)
    }

    /// Helps to purge what is left of a former network of that id, and waits some seconds for that.
    package func createNetwork(
        _ credentials: NetworkCredentials,
        answering request: IdempotentRequest?
    ) async throws -> Creation {
        let network = credentials.network
        let secrets = try credentials.webhookSecrets.map { record in
            StoredSecret(
                id: ids.next(),
                sealed: try box.seal(record.secret, .incoming, in: network.id),
                expiresAt: record.expiresAt
            )
        }
        let tokenKeys = try credentials.userTokenKeys.map { try StoredTokenKey($0, box, ids.next(), in: network.id) }
        let end = ContinuousClock.now + patience
        while true {
            let creation = try await once(
                request,
                deciding: { session in
                    try session.lockName(of: network.id)
                    guard try session.network(network.id) == nil else { return .refused }
                    guard try !session.hasLeavings(of: network.id) else { return .beingDeleted }
                    guard try session.freeName(of: network.id, after: former.rest) else { return .beingDeleted }
                    guard try session.insert(network) else { return .refused }
                    try session.forgetDeparture(of: network.id)
                    for secret in secrets { try session.insert(secret, .incoming, of: network.id) }
                    for key in tokenKeys { try key.insert(of: network.id, session) }
                    for key in credentials.apiKeys { try session.insert(key) }
                    try session.countDirectory(of: network.id)
                    return .created
                }
            )
            guard creation == .beingDeleted, .now < end else { return creation }
            try await purgeIfPossible(network.id, until: end)
            try await Task.sleep(for: Self.pause)
        }
    }

    /// The credentials go first, in one transaction that leaves the network among the former ones; the rest follows in small
    /// ones, as many as there is time for. The ``Housekeeper`` of any replica finishes.
    package func deleteNetwork(_ id: NetworkID) async throws -> Bool {
        guard try await removeNetwork(id) else { return false }
        try await purgeIfPossible(id)
        return true
    }

    /// Removes a network and its credentials; `false` when there is none. What else was in it is left among the former ones.
    func removeNetwork(_ id: NetworkID) async throws -> Bool {
        try await pool.write { session in
            try session.lockName(of: id)
            // Before the network, as those do who make something in it.
            try session.execute("DELETE FROM idempotency_keys WHERE network_id = \(id.rawValue)")
            let deleted = try session.execute("DELETE FROM networks WHERE network_id = \(id.rawValue)")
            if deleted > 0 {
                try session.noteFormerNetwork(id)
                try session.countFaceChange()
                try session.recordChange(of: nil, in: id)
                try session.countDirectory(of: id)
            }
            return deleted > 0
        }
    }

    /// Helps to purge what is left of a former network, for as long as whoever makes one of its id waits for that; whether nothing is left.
    func finishDeletion(of id: NetworkID) async throws -> Bool {
        let end = ContinuousClock.now + patience
        while try await former.isAnythingKnown(of: id) {
            guard .now < end else { return false }
            try await purgeIfPossible(id, until: end)
            try await Task.sleep(for: Self.pause)
        }
        return true
    }

    /// What is left is nobody's any more: that it cannot be purged now is no reason to say that the network was not deleted.
    func purgeIfPossible(_ id: NetworkID, until end: ContinuousClock.Instant? = nil) async throws {
        do { try await former.purge(id, until: end) } catch  where error.isTransient {}
    }

    package func credentials(of id: NetworkID) async throws -> NetworkCredentials? {
        let stored = try await pool.snapshot { session in
            (
                network: try session.network(id), secrets: try session.secrets(.incoming, of: id),
                tokenKeys: try session.tokenKeys(of: id), apiKeys: try session.apiKeys(of: id),
                dialects: try session.dialects(of: id)
            )
        }
        guard let network = stored.network else { return nil }
        // What another master key sealed is left out: API keys, which are hashed, go on working.
        let secrets = stored.secrets.compactMap { secret in
            (try? box.open(secret.sealed, .incoming, in: id)).map {
                WebhookSecretRecord(secret: $0, expiresAt: secret.expiresAt)
            }
        }
        let tokenKeys = stored.tokenKeys.compactMap { try? $0.key(box, in: id).key }
        var credentials = NetworkCredentials(
            network: network,
            webhookSecrets: secrets,
            userTokenKeys: tokenKeys,
            apiKeys: stored.apiKeys,
            dialects: stored.dialects.map { $0.document(box, in: id) }
        )
        credentials.hasUnreadableWebhookSecrets = secrets.count < stored.secrets.count
        credentials.hasUnreadableUserTokenKeys = tokenKeys.count < stored.tokenKeys.count
        return credentials
    }

    /// Carries a request that creates out in one transaction with the note that it was, or answers what it was answered when
    /// it came before.
    ///
    /// One that comes while the same is under way waits for it. Without a request its caller does not mean to repeat it.
    /// - Throws: ``IdempotentRequest/Failure``, and what `create` throws.
    func once(
        _ request: IdempotentRequest?,
        deciding create: @Sendable (borrowing PostgresSession) throws -> Creation
    ) async throws -> Creation {
        guard let request else { return try await pool.write(create) }
        let sealed = try box.seal(request.answer, for: .idempotentAnswer, in: request.networkID)
        let (creation, former) = try await pool.write { session -> (Creation, [UInt8]) in
            guard try session.note(request, sealed) else {
                // It was swept between the two statements: like one that never came, but for whom the caller has to ask again.
                guard let former = try session.answer(to: request) else { throw DeadlineExceeded() }
                return (.created, former)
            }
            let creation = try create(session)
            if creation != .created { try session.forget(request) }
            return (creation, [])
        }
        if former.isEmpty { return creation }
        return .repeated(answer: try box.open(former, for: .idempotentAnswer, in: request.networkID))
    }

    /// What a request was answered that was carried out here; `nil` where none was.
    ///
    /// - Throws: ``IdempotentRequest/Failure/differentBody``.
    func formerAnswer(to request: IdempotentRequest) async throws -> [UInt8]? {
        let sealed = try await pool.withConnection { session in try session.answer(to: request) }
        return try sealed.map { try box.open($0, for: .idempotentAnswer, in: request.networkID) }
    }

    /// The same for what is refused for one reason alone, which `create` answers `false` for; it has changed nothing then.
    func once(
        _ request: IdempotentRequest?,
        _ create: @Sendable (borrowing PostgresSession) throws -> Bool
    ) async throws -> Creation {
        try await once(request, deciding: { session in try create(session) ? .created : .refused })
    }
}

extension PostgresSession {
    /// Notes that a request is carried out; `false` when it was already.
    fileprivate func note(_ request: IdempotentRequest, _ sealed: [UInt8]) throws -> Bool {
        let lifetime = IdempotentRequest.lifetime.wholeMilliseconds
        let noted = try execute(
            """
            INSERT INTO idempotency_keys AS k (network_id, key_hash, body_hash, sealed, created_at)
            VALUES (\(request.scope), \(request.keyHash), \(request.bodyHash), \(sealed), now())
            ON CONFLICT (network_id, key_hash) DO UPDATE
            SET body_hash = EXCLUDED.body_hash, sealed = EXCLUDED.sealed, created_at = EXCLUDED.created_at
            WHERE k.created_at AT TIME ZONE 'UTC'
                <= EXCLUDED.created_at AT TIME ZONE 'UTC' - \(lifetime) * interval '1 millisecond'
            """
        )
        guard noted == 1 else { return false }
        // The operator is trusted with any number.
        guard request.networkID != nil else { return true }
        let limit = IdempotentRequest.maximumPerNetwork
        let count = try first(
            """
            SELECT count(*) FROM (
                SELECT FROM idempotency_keys WHERE network_id = \(request.scope) LIMIT \(limit + 1)) AS k
            """,
            as: Int.self
        )
        guard count ?? 0 <= limit else { throw IdempotentRequest.Failure.tooMany }
        return true
    }

    /// What a request was answered, sealed; `nil` where none was carried out.
    fileprivate func answer(to request: IdempotentRequest) throws -> [UInt8]? {
        let stored = try queryFirst(
            """
            SELECT body_hash, sealed FROM idempotency_keys
            WHERE network_id = \(request.scope) AND key_hash = \(request.keyHash)
            """
        ) { row in (bodyHash: try row.decode(0, as: [UInt8].self), sealed: try row.decode(1, as: [UInt8].self)) }
        guard let stored else { return nil }
        guard stored.bodyHash == request.bodyHash else { throw IdempotentRequest.Failure.differentBody }
        return stored.sealed
    }

    fileprivate func forget(_ request: IdempotentRequest) throws {
        try execute(
            "DELETE FROM idempotency_keys WHERE network_id = \(request.scope) AND key_hash = \(request.keyHash)"
        )
    }
}

extension IdempotentRequest {
    /// Column `network_id`.
    fileprivate var scope: String { networkID?.rawValue ?? "" }
}
