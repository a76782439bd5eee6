import CarillonCore
import ServiceLifecycle

/// A service that works with a database, and so begins when there is one with the tables it needs.
struct DeferredService: Service, CustomStringConvertible {
    let service: any Service
    let state: DatabaseState

    var description: String { "\(type(of: service))" }

    func run() async throws {
        let hasDatabase = await cancelWhenGracefulShutdown {
            await waits { state.hasDatabase }
        }
        if hasDatabase { try await service.run() }
    }
}
