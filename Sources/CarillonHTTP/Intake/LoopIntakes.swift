package import CarillonEdge
package import NIOCore
import Synchronization

/// What takes requests on each event loop.
package final class LoopIntakes: Sendable {
    private let services: Services
    private let faces: [any LoopFace]
    private let settings: ServerSettings
    private let intakes = Mutex<[ObjectIdentifier: NIOLoopBound<[any RequestIntake]>]>([:])

    package init(_ services: Services, faces: [any Face], settings: ServerSettings) {
        self.services = services
        self.faces = faces.compactMap { $0 as? any LoopFace }
        self.settings = settings
    }

    /// Those of an event loop, on which this is called.
    package func intakes(of loop: any EventLoop) -> [any RequestIntake] {
        let key = ObjectIdentifier(loop)
        let known = intakes.withLock { $0[key] }
        if let known { return known.value }
        let own: [any RequestIntake] =
            [EventIntake(services, settings: settings, loop: loop)]
            + faces.map { FaceIntake($0, services, settings: settings, loop: loop) }
        let bound = NIOLoopBound(own, eventLoop: loop)
        intakes.withLock { $0[key] = bound }
        return own
    }
}
