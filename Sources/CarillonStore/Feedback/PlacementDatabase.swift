import CarillonCore
import Postgres

/// The database of a placement, as stores know it that look it up by the network.
package struct PlacementDatabase: Sendable {
    let accounts: PostgresAccountStore
    let feedback: FeedbackWriter?

    var pool: PostgresPool { accounts.pool }
    var box: SecretBox { accounts.box }
    var ids: UUIDv7Generator { accounts.ids }

    /// The database that `accounts` is in; `feedback` tells what becomes of devices and subscriptions there.
    package init(_ accounts: PostgresAccountStore, feedback: FeedbackWriter? = nil) {
        self.accounts = accounts
        self.feedback = feedback
    }
}
