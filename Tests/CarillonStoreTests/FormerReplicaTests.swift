import CarillonCore
import Foundation
import Postgres
import Testing

@testable import CarillonStore
@testable import CarillonTesting

/// While replicas are updated one after the other, those of the former release go on.
@Suite struct FormerReplicaTests {
    @Test func `what an import said of an address is over when a former replica registers its device anew`()
        async throws
    {
        try await withStores { scene, pool in
            let address = DeviceAddress.fcm(token: "t", appID: "app")
            let imported = Device(
                id: "d",
                userID: "a",
                address: address,
                registeredAt: .seconds(60),
                obtainedAt: .epoch
            )
            _ = try await scene.devices.putDevice(imported, in: scene.network)
            func obtainedAt() async throws -> Timestamp? {
                let place = AddressPlace(networkID: scene.network, address: address)
                return try await scene.devices.devices(reachedAt: [place])[0]?.obtainedAt
            }
            #expect(try await obtainedAt() == .epoch)
            #expect(try await scene.devices.device("d", in: scene.network)?.obtainedAt == .epoch)
            // It knows of no other column.
            try await pool.withConnection { session in
                try session.execute("UPDATE devices SET registered_at = \(Timestamp.seconds(90).stored)")
            }
            #expect(try await obtainedAt() == .seconds(90))
            #expect(try await scene.devices.device("d", in: scene.network)?.obtainedAt == nil)
            _ = try await scene.devices.putDevice(imported, in: scene.network)
            #expect(try await obtainedAt() == .epoch, "imported once more")
        }
    }
}
