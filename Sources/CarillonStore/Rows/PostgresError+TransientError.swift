public import CarillonCore
public import Postgres

extension PostgresError: TransientError {
    /// Whether trying again later can help: the server is away or busy, or something else came in between.
    public var isTransient: Bool {
        switch kind {
        case .shuttingDown, .cancelled: true
        default: isConnectivity || isRetriable
        }
    }
}
