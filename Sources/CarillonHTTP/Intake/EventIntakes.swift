import CarillonCore
package import CarillonEdge
package import NIOCore
import Synchronization

/// The ``EventIntake`` of each event loop.
package final class EventIntakes: Sendable {
    private let services: Services
    private let settings: ServerSettings
    private let intakes = Mutex<[ObjectIdentifier: NIOLoopBound<EventIntake>]>([:])

    package init(_ services: Services, settings: ServerSettings) {
        self.services = services
        self.settings = settings
    }

    /// That of an event loop, on which this is called.
    package func intake(of loop: any EventLoop) -> any RequestIntake {
        let key = ObjectIdentifier(loop)
        let known = intakes.withLock { $0[key] }
        if let known { return known.value }
        let intake = NIOLoopBound(EventIntake(services, settings: settings, loop: loop), eventLoop: loop)
        intakes.withLock { $0[key] = intake }
        return intake.value
    }
}
