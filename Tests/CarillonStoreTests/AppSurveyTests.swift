import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// For which apps a network has devices.
@Suite struct AppSurveyTests {
    @Test func `names each app with a device in use once, whoever else has devices`() async throws {
        try await withStores { scene, pool in
            for (number, app) in ["one", "one", "two"].enumerated() {
                _ = try await scene.target(DeviceID(trusted: "d-\(number)"), of: "bob", app: app)
            }
            _ = try await scene.target("gone", of: "bob", app: "left")
            try await pool.withConnection { session in
                _ = try session.execute("UPDATE devices SET state = 'unregistered' WHERE device_id = 'gone'")
            }
            let survey = AppSurvey(pool: pool)
            #expect(try await survey.apps(of: scene.network) == [.init(.fcm, "one"), .init(.fcm, "two")])
            #expect(try await survey.apps(of: NetworkID(trusted: "nobody")).isEmpty)
        }
    }
}
