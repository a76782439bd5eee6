import CarillonTesting
import Foundation
import Postgres

@testable import CarillonCore

/// A moment that tests call now.
let testNow = Timestamp(milliseconds: 1_795_132_800_000)

extension Target {
    static func test(_ device: String, user: String? = nil, hasError: Bool = false) -> Target {
        Target(
            deviceID: DeviceID(trusted: device),
            userID: UserID(trusted: user ?? "user of \(device)"),
            .device(.log, registeredAt: testNow - .seconds(60), hasError: hasError)
        )
    }
}

extension DeliveryGroup {
    static func test(
        _ targets: [Target],
        network: String = "acme",
        provider: ProviderName = .log,
        attempt: Int = 0,
        receivedAt: Timestamp = testNow,
        mentions: Set<UserID> = []
    ) -> DeliveryGroup {
        DeliveryGroup(
            id: UUID(),
            lane: Lane(networkID: NetworkID(trusted: network), provider: provider, appID: ""),
            cause: DeliveryCause(
                eventID: EventID(UUID()),
                eventType: .messageSent,
                channel: Channel(id: "general", displayName: "General"),
                actorRoles: [],
                mentions: mentions,
                receivedAt: receivedAt
            ),
            payload: .devices(DevicePush(Push(Notification(locale: "en", title: "Alice (General)", body: "Hello")))),
            targets: targets,
            attempt: attempt,
            leased: true
        )
    }
}

extension StoreScene {
    /// Stores without a database, for what wants ports that a test does not use.
    static func unconnected() throws -> StoreScene {
        let configuration = try PostgresConfiguration(url: "host=/nowhere")
        return try StoreScene(pool: PostgresPool(configuration: configuration, logger: TestDatabase.logger))
    }
}

/// A store in which nothing has changed since anybody looked.
struct UnchangedReader: OutboxReader {
    func refresh(_ groups: [DeliveryGroup]) async throws -> [RefreshedGroup] { [] }

    func changes(since points: [(network: NetworkID, point: ReadPoint)]) async throws -> [Changes] {
        points.map { _ in .none }
    }
}
