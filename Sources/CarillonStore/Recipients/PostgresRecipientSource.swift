package import CarillonCore
package import Postgres

/// Finds recipients in the directory; every page of one call is of one moment.
package final class PostgresRecipientSource: RecipientSource {
    private let pool: PostgresPool
    private let overrides = OverrideCache()

    /// A source in the database of `pool`.
    package init(pool: PostgresPool) {
        self.pool = pool
    }

    /// One page of recipients for each of the first queries, in their order; at least for the first one.
    package func recipients(for queries: [RecipientQuery]) async throws -> [RecipientPage] {
        guard !queries.isEmpty else { return [] }
        return try await pool.snapshot { session in
            let candidates = try CandidateReader(queries, session)
            let answered = candidates.answered(of: queries)
            let context = try RecipientContext(answered, session)
            return answered.enumerated().map { position, query in
                let (recipients, next) = candidates.recipients(at: position, mark: context.mark(of: query))
                return RecipientPage(
                    settings: context.settings(for: query, overrides),
                    names: context.names(for: query),
                    recipients: recipients,
                    next: next,
                    readPoint: context.readPoint
                )
            }
        }
    }
}
