import CarillonCore
import CarillonEdge
import Synchronization

/// Who may import: one import at a time of each network, and few at a time in all that write to the database.
final class ImportLimiter: Sendable {
    /// How many imports write at a time.
    static let atOnce = 2
    /// How long an import that has arrived waits until it may write.
    static let patience = Duration.seconds(60)
    /// How many imports wait.
    private static let line = 1_024

    private let networks = Mutex<Set<NetworkID>>([])
    private let permits: FairSemaphore<NetworkID, NetworkID>

    init(patience: Duration = ImportLimiter.patience) {
        permits = FairSemaphore(limits: FairQueueLimits(weight: Self.line, slots: Self.atOnce), patience: patience)
    }

    /// Runs an import of a network.
    /// - Throws: 429 when there is one already, and what `body` throws.
    func importing<Value: Sendable>(
        into network: NetworkID,
        _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        guard networks.withLock({ $0.insert(network).inserted }) else { throw Problem.importRunning }
        defer { networks.withLock { _ = $0.remove(network) } }
        return try await body()
    }

    /// Runs the part of an import that writes.
    /// - Throws: 503 when it has to wait for too long, and what `body` throws.
    func writing(into network: NetworkID, _ body: @Sendable () async throws -> Void) async throws {
        guard let permit = await permits.permit(of: network, in: network) else { throw Problem.tooManyImports }
        defer { permit.giveBack() }
        try await body()
    }
}
