import ServiceLifecycle

/// A service that works with a database, and so begins when there is one with the tables it needs.
struct DeferredService: Service, CustomStringConvertible {
    private let service: any Service
    private let state: DatabaseState

    init(_ service: any Service, until state: DatabaseState) {
        self.service = service
        self.state = state
    }

    var description: String { "\(type(of: service))" }

    func run() async throws {
        let hasDatabase = await cancelWhenGracefulShutdown {
            await waits { state.hasDatabase }
        }
        if hasDatabase { try await service.run() }
    }
}
