import CarillonCore
import CarillonTesting
import Hummingbird
import Postgres
import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

/// Holds openapi.yaml against the routes; whether the answers are as described is for a run against the service.
@Suite struct DescriptionTests {
    @Test func `every route is described, and nothing else`() throws {
        let nowhere = PostgresPool(configuration: try PostgresConfiguration(url: "host=/nowhere"), logger: .silent)
        let router = PublicRouter.make(try Services(over: StoreScene(pool: nowhere), clock: .system))
        let routes = Set(
            router.routes.filter { $0.method != .head }
                .map { DescribedOperation(method: $0.method.rawValue.lowercased(), path: $0.path.description) }
        )
        let described = try DescribedOperation.all(in: "openapi.yaml")
        #expect(routes.subtracting(described).isEmpty)
        #expect(described.subtracting(routes).isEmpty)
    }
}
