import CarillonSimulator
import CarillonTesting
import Foundation
import Testing

@Suite(.bench) struct SimulatorTests {
    private let bench: Bench = lent()

    @Test func `says which port it cannot have`() async throws {
        let port = try #require(bench.simulator.urls.fcm.split(separator: ":").last.flatMap { Int($0) })
        var configuration = SimulatorConfiguration()
        configuration.webPushPort = port
        do {
            let second = try await Simulator.start(configuration)
            await second.shutdown()
            Issue.record("two simulators listen on one port")
        } catch SimulatorError.cannotListen(let service, let refused, _) {
            #expect(service == .webPush)
            #expect(refused == port)
        }
    }

    @Test func `leaves no file behind, except in a folder that was named`() async throws {
        let simulator = try await Simulator.start()
        _ = try simulator.writeFiles(appID: "com.example.chat")
        let directory = simulator.directory
        await simulator.shutdown()
        #expect(!FileManager.default.fileExists(atPath: directory))

        let named = FileManager.default.temporaryDirectory.appending(path: "simulator-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: named) }
        var configuration = SimulatorConfiguration()
        configuration.directory = named
        let second = try await Simulator.start(configuration)
        await second.shutdown()
        #expect(FileManager.default.fileExists(atPath: "\(named)/ca.pem"))
    }

    @Test func `writes credentials and devices that only their owner can read`() async throws {
        let files = try bench.simulator.writeFiles(appID: "com.example.chat")
        let credentials = [files.apnsCredential, files.fcmCredential, files.webPushCredential]
        for path in credentials + files.devices.map(\.path) {
            let bytes = try Data(contentsOf: URL(filePath: path))
            #expect(try JSONSerialization.jsonObject(with: bytes) is [String: Any])
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        let environment = try String(contentsOfFile: files.environmentFile, encoding: .utf8)
        #expect(environment.contains("export CARILLON_FCM_URL='\(bench.simulator.urls.fcm)'\n"))
    }

    @Test func `accepts unread whoever is authenticated, in the constant mode`() async throws {
        try await withBench({ $0.detail = .counts }) { bench in
            #expect(try await bench.push(changing: ["authorization": nil]).status == 403)
            #expect(try await bench.push(SimulatedToken.apns(APNsReason.unregistered.tokenPrefix)).status == 200)
            #expect(try await bench.send("unread", accessToken: "unknown").status == 401)
            let token = try await bench.accessToken()
            #expect(try await bench.send("unread", accessToken: token).status == 200)
            let subscription = bench.simulator.makeSubscription("gone")
            #expect(try await bench.push(to: subscription, changing: ["ttl": nil], body: [1]).status == 201)
            #expect(bench.simulator.received.accepted == 3)
            #expect(bench.simulator.received.notifications.isEmpty)
        }
    }

    @Test func `remembers neither text nor payload when only identifiers are wanted`() async throws {
        try await withBench({ $0.detail = .identifiers }) { bench in
            _ = try await bench.push(to: bench.simulator.makeSubscription())
            let notification = try #require(bench.simulator.received.notifications.first)
            #expect(notification.notificationID == "n-1")
            #expect(notification.title == nil)
            #expect(notification.payload.isEmpty)
            #expect(notification.headers.isEmpty)
        }
    }
}
