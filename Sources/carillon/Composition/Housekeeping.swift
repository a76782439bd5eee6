import CarillonStore
import Logging
import ServiceLifecycle

/// Has the database tidied up every minute.
struct Housekeeping: Service {
    private static let interval = Duration.seconds(60)

    private let housekeeper: Housekeeper
    private let logger: Logger

    init(housekeeper: Housekeeper, logger: Logger) {
        self.housekeeper = housekeeper
        self.logger = logger
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await housekeeper.sweep()
                } catch  where !Task.isCancelled {
                    logger.warning("Could not tidy up the database", metadata: ["error": "\(error)"])
                } catch {
                    return
                }
                // Replicas do not have to do it in step.
                try? await Task.sleep(for: Self.interval * Double.random(in: 0.9...1.1))
            }
        }
    }
}
