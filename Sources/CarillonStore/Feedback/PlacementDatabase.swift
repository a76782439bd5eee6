package import CarillonCore
package import Postgres

/// The database of a placement, as those know it who look it up by the network: `feedback` tells the endpoints in it what becomes of
/// devices and subscriptions, and `ids` go by its clock.
package struct PlacementDatabase: Sendable {
    let pool: PostgresPool
    let ids: UUIDv7Generator
    let feedback: FeedbackDesk

    package init(pool: PostgresPool, ids: UUIDv7Generator, feedback: FeedbackDesk) {
        self.pool = pool
        self.ids = ids
        self.feedback = feedback
    }
}
