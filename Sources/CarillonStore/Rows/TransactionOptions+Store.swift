import Postgres

extension TransactionOptions {
    /// A short write. Locks are taken in one order everywhere; should two writes still meet head-on, one runs again.
    static let write = TransactionOptions(retries: 5)

    /// Several reads of one moment.
    static let snapshot = TransactionOptions(isolation: .repeatableRead, readOnly: true)
}
