import CarillonTesting
import Postgres

extension StoreScene {
    /// Stores without a database, for what wants ports that a test does not use.
    static func unconnected() throws -> StoreScene {
        let configuration = try PostgresConfiguration(url: "host=/nowhere")
        return try StoreScene(pool: PostgresPool(configuration: configuration, logger: TestDatabase.logger))
    }
}
