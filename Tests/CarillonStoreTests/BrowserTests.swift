import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// Whether a network has browsers, to which its key pair belongs for good.
@Suite struct BrowserTests {
    private static let address = DeviceAddress.webpush(endpoint: "https://push.example/1", p256dh: "p", auth: "a")

    private static func named(_ address: DeviceAddress, _ scene: StoreScene, in network: NetworkID) async throws {
        let event = Event.direct(.addresses([AddressedDevice(address: address)]))
        _ = try await scene.recipients.page(
            for: RecipientQuery(networkID: network, eventID: EventID(scene.ids.next()), event: event)
        )
    }

    @Test func `those count that somebody registered, and those in use that came with a notification`() async throws {
        try await StoreScene.withStores { scene, pool in
            func hasBrowsers() async throws -> Bool { try await scene.devices.hasBrowsers(in: scene.network) }
            _ = try await scene.target("phone", of: "bob")
            try await Self.named(.fcm(token: "t", appID: "app"), scene, in: scene.network)
            try await Self.named(Self.address, scene, in: scene.otherNetwork)
            #expect(try await !hasBrowsers(), "neither phones nor others' browsers")
            try await Self.named(Self.address, scene, in: scene.network)
            #expect(try await hasBrowsers())
            for state in ["unregistered", "quarantined"] {
                try await pool.execute("UPDATE devices SET state = \(state) WHERE provider = 'webpush'")
                #expect(try await !hasBrowsers(), "what nothing is sent to any more needs no key")
            }
            let device = Device("b", of: "bob", Self.address, at: .epoch)
            _ = try await scene.devices.putDevice(device, in: scene.network)
            #expect(try await hasBrowsers())
            #expect(try await scene.directory.deleteUser("bob", in: scene.network))
            #expect(try await !hasBrowsers(), "its user is gone")
        }
    }

    @Test func `a few are found among many devices that came with notifications`() async throws {
        try await StoreScene.withStores(oneConnection()) { scene, pool in
            try await pool.execute(
                """
                INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, address_hash, registered_at, transient)
                SELECT \(scene.network.rawValue), 't-' || n, '', 'fcm', 'app', 'a' || n, sha256(convert_to('a' || n, 'UTF8')), now(),
                       true
                FROM generate_series(1, 20000) AS n
                """
            )
            try await pool.execute(.unprepared("ANALYZE devices"))
            let before = try await pool.blocksRead(of: ["devices"])
            #expect(try await !scene.devices.hasBrowsers(in: scene.network))
            #expect(try await pool.blocksRead(of: ["devices"]) - before < 50)
        }
    }
}
