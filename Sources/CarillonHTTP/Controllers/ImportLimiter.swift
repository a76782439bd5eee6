import CarillonCore
import CarillonEdge

/// Who may import: one import at a time of each network, and few at a time in all that write to the database.
actor ImportLimiter {
    /// How many imports write at a time.
    static let atOnce = 2
    /// How long an import that has arrived waits until it may write.
    static let patience = Duration.seconds(60)

    private let patience: Duration
    private var networks: Set<NetworkID> = []
    private var writing = 0
    private var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    private var lastNumber = 0

    init(patience: Duration = ImportLimiter.patience) {
        self.patience = patience
    }

    /// Runs an import of a network.
    /// - Throws: 429 when there is one already, and what `body` throws.
    func importing<Value: Sendable>(
        into network: NetworkID,
        _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        guard networks.insert(network).inserted else { throw Problem.importRunning }
        defer { networks.remove(network) }
        return try await body()
    }

    /// Runs the part of an import that writes, in the order in which imports came.
    /// - Throws: 503 when it has to wait for too long, and what `body` throws.
    func writing(_ body: @Sendable () async throws -> Void) async throws {
        guard await enter() else { throw Problem.tooManyImports }
        defer { leave() }
        try await body()
    }

    private func enter() async -> Bool {
        guard writing >= Self.atOnce else {
            writing += 1
            return true
        }
        lastNumber += 1
        let number = lastNumber
        let timeout = Task {
            try? await Task.sleep(for: patience)
            expire(number)
        }
        defer { timeout.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume(returning: false)
                } else {
                    waiting.append((number, continuation))
                }
            }
        } onCancel: {
            Task { await expire(number) }
        }
    }

    private func leave() {
        // What is free is handed on to the next one.
        if waiting.isEmpty { writing -= 1 } else { waiting.removeFirst().continuation.resume(returning: true) }
    }

    private func expire(_ number: Int) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: index).continuation.resume(returning: false)
    }
}
