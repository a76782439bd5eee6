import CarillonCore
import Postgres

extension PostgresAccountStore {
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
        let count = try queryFirst(
            """
            SELECT count(*) FROM (
                SELECT FROM idempotency_keys WHERE network_id = \(request.scope) LIMIT \(limit + 1)) AS k
            """
        ) { row in try row.decode(0, as: Int.self) }
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
