import CarillonCore
import CarillonStore
import Logging
import ServiceLifecycle

/// Has the database tidied up every minute, and more rarely while nothing happens.
struct Housekeeping: Service {
    private static let pace = LookPace(
        interval: .seconds(60),
        jitter: 0.1,
        growth: 5,
        longest: .seconds(300),
        isCalled: false
    )

    let housekeeper: Housekeeper
    let stirrings: Stirrings
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await tidyUp()
            await stirrings.repeating(Self.pace) { await tidyUp() }
        }
    }

    private func tidyUp() async {
        do {
            try await Stirrings.$isRoutine.withValue(true) { try await housekeeper.sweep() }
        } catch {
            guard !Task.isCancelled else { return }
            logger.warning("Could not tidy up the database", metadata: ["error": "\(error)"])
        }
    }
}
