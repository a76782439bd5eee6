import ServiceLifecycle

/// A service that works with the database, and so begins when there is one with the tables it needs.
struct DeferredService: Service, CustomStringConvertible {
    private let service: any Service
    private let readiness: Readiness

    init(_ service: any Service, until readiness: Readiness) {
        self.service = service
        self.readiness = readiness
    }

    var description: String { "\(type(of: service))" }

    func run() async throws {
        let hasDatabase = await cancelWhenGracefulShutdown {
            await readiness.waits { $0.hasDatabase }
        }
        if hasDatabase { try await service.run() }
    }
}
