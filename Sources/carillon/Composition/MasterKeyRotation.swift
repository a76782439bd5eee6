import CarillonCore
import CarillonStore
import Logging
import Postgres
import ServiceLifecycle

/// Finds out whether the master key is the database's, and seals anew what the previous one sealed.
struct MasterKeyRotation: Service {
    /// What is wrong when neither key is the right one.
    static let problem = """
        \(Setting.masterKey.variable) is not the key that the stored secrets are sealed with: set that one, or add it as \
        \(Setting.masterKeyPrevious.variable)
        """

    private static let interval = Duration.seconds(15)
    /// While it is not known which key is the right one, nothing that is sealed can be used.
    private static let firstInterval = Duration.milliseconds(200)

    private let rollover: MasterKeyRollover
    private let box: SecretBox
    private let state: DatabaseState
    private let logger: Logger

    /// A rotation; nothing is sealed with `box` before it has looked.
    init(pool: PostgresPool, box: SecretBox, state: DatabaseState, logger: Logger) {
        box.permitSealing(nil)
        rollover = MasterKeyRollover(pool: pool, box: box)
        self.box = box
        self.state = state
        self.logger = logger
    }

    func run() async throws {
        try await repeating(with: (verdict: MasterKeyVerdict?.none, isTold: false), jitter: 0.1) { known in
            do {
                let former = known.verdict
                let latest = try await former == nil ? rollover.takeOver() : rollover.verdict()
                known.verdict = latest
                box.permitSealing(latest != .wrong)
                state.note { $0.masterKeyProblem = latest == .wrong ? Self.problem : nil }
                if latest == .wrong, former != .wrong {
                    logger.error("The master key is wrong", metadata: ["reason": "\(Self.problem)"])
                }
                // Where the previous key is the canary's, a replica that was started later has it as its current one.
                if latest == .current { known.isTold = try await rotate(isTold: known.isTold) }
            } catch {
                guard !Task.isCancelled else { return nil }
                logger.debug("Could not look after the master key", metadata: ["error": "\(error)"])
            }
            return known.verdict == nil ? Self.firstInterval : Self.interval
        }
    }

    /// Seals anew what is left; answers whether the end has been told.
    private func rotate(isTold: Bool) async throws -> Bool {
        let count = try await rollover.sealAnew()
        if count > 0 {
            logger.notice("Stored secrets are sealed with the current master key", metadata: ["count": "\(count)"])
            return false
        }
        guard !isTold, box.hasPrevious, try await rollover.remaining().previous == 0 else { return isTold }
        logger.notice("Nothing is sealed with the previous master key any more: all replicas can do without it")
        return true
    }
}
