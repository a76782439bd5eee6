import CarillonSimulator
import CarillonTesting
import Foundation
import NIOHTTP1
import Testing

@Suite(.bench) struct APNsNotificationTests {
    private let bench: Bench = lent()

    @Test func `accepts a notification, echoes its id and remembers what it says`() async throws {
        let token = SimulatedToken.apns()
        let id = UUID().uuidString
        let answer = try await bench.push(token, id: id)
        #expect(answer.status == 200)
        #expect(answer.header("apns-id") == id)
        #expect(answer.body.isEmpty)
        let notification = try #require(try await bench.simulator.received.wait(for: 1).first)
        #expect(notification.service == .apnsProduction)
        #expect(notification.deviceToken == token)
        #expect(notification.notificationID == id)
        #expect(notification.status == 200)
        #expect(notification.title == "Bob")
        #expect(notification.body == "Hello")
        #expect(notification.headers["apns-collapse-id"] == id)
        #expect(notification.headers["authorization"] == nil)
        #expect(String(decoding: notification.payload, as: UTF8.self) == Bench.payload)
    }

    @Test func `gives an id to a notification without one`() async throws {
        let answer = try await bench.push(changing: ["apns-id": nil])
        let id = try #require(answer.header("apns-id"))
        #expect(UUID(uuidString: id) != nil)
    }

    @Test func `answers every reason of Apple's table to the token that asks for it`() async throws {
        let prefixes = Set(APNsReason.allCases.map(\.tokenPrefix))
        #expect(prefixes.count == APNsReason.allCases.count)
        for reason in APNsReason.allCases {
            let answer = try await bench.push(SimulatedToken.apns(reason.tokenPrefix))
            #expect(Int(answer.status) == reason.status)
            #expect(answer["reason"] == reason.rawValue)
            #expect((answer["timestamp"] != nil) == (reason.status == 410), "\(reason)")
            #expect(answer.header("content-type")?.hasPrefix("application/json") == true)
        }
    }

    @Test func `says since when a device has gone, in milliseconds`() async throws {
        let before = Date().timeIntervalSince1970 * 1000
        let now = try await bench.push(SimulatedToken.apns(APNsReason.unregistered.tokenPrefix))
        #expect(try #require(now["timestamp"].flatMap { Double($0) }) >= before.rounded(.down))
        let longAgo = try await bench.push(SimulatedToken.apns("fa1141099"))
        #expect(longAgo["timestamp"] == "1445412480000")
    }

    @Test func `answers statuses and reasons that nobody has documented`() async throws {
        let answer = try await bench.push(SimulatedToken.apns("fa1141800"))
        #expect(answer.status == 418)
        #expect(answer["reason"] == "SomethingNew")
    }

    @Test(arguments: [
        ("apns-id", "12345", "BadMessageId"), ("apns-id", "5dfe860c785b484a874b7232d961a439aaaa", "BadMessageId"),
        ("apns-topic", nil, "MissingTopic"), ("apns-topic", "com example", "BadTopic"),
        ("apns-push-type", "shout", "InvalidPushType"), ("apns-priority", "7", "BadPriority"),
        ("apns-push-type", "background", "BadPriority"), ("apns-expiration", "-1", "BadExpirationDate"),
        ("apns-expiration", "tomorrow", "BadExpirationDate"),
        ("apns-collapse-id", String(repeating: "x", count: 65), "BadCollapseId"),
    ])
    func `refuses headers that are wrong`(name: String, value: String?, reason: String) async throws {
        let answer = try await bench.push(changing: [name: value])
        #expect(answer.status == 400)
        #expect(answer["reason"] == reason)
    }

    @Test func `refuses a header that comes twice`() async throws {
        let answer = try await bench.push(adding: [("apns-priority", "5")])
        #expect(answer["reason"] == "DuplicateHeaders")
    }

    @Test(arguments: [
        (nil, HTTPMethod.GET, 405, "MethodNotAllowed"), ("/3/device/", .POST, 400, "MissingDeviceToken"),
        ("/4/device/aa", .POST, 404, "BadPath"), ("/3/device/aa/bb", .POST, 404, "BadPath"),
        ("/3/devices/aa", .POST, 404, "BadPath"), ("/3/device/abcd", .POST, 400, "BadDeviceToken"),
        ("/3/device/\(String(repeating: "z", count: 64))", .POST, 400, "BadDeviceToken"),
    ])
    func `refuses paths, methods and tokens that cannot be`(
        path: String?,
        method: HTTPMethod,
        status: UInt,
        reason: String
    ) async throws {
        let answer = try await bench.push(path: path, method: method)
        #expect(answer.status == status)
        #expect(answer["reason"] == reason)
    }

    @Test func `takes 4,096 bytes and no more, and refuses what is no object`() async throws {
        func payload(_ count: Int) -> String { #"{"aps":""# + String(repeating: "x", count: count - 10) + #""}"# }
        #expect(try await bench.push(payload: payload(4096)).status == 200)
        let tooLarge = try await bench.push(payload: payload(4097))
        #expect(tooLarge.status == 413)
        #expect(tooLarge["reason"] == "PayloadTooLarge")
        #expect(try await bench.push(payload: "")["reason"] == "PayloadEmpty")
        #expect(try await bench.push(payload: "[1]")["reason"] == "PayloadEmpty")
    }

    @Test func `knows some tokens in one environment only`() async throws {
        let urls = bench.simulator.urls
        let sandbox = SimulatedToken.apns(SimulatedToken.sandboxOnlyPrefix)
        #expect(try await bench.push(sandbox, to: urls.apnsProduction)["reason"] == "BadDeviceToken")
        #expect(try await bench.push(sandbox, to: urls.apnsSandbox).status == 200)
        let production = SimulatedToken.apns(SimulatedToken.productionOnlyPrefix)
        #expect(try await bench.push(production, to: urls.apnsSandbox)["reason"] == "BadDeviceToken")
        #expect(try await bench.push(production, to: urls.apnsProduction).status == 200)
    }

    @Test func `reports a device as gone from the moment it is removed until it is back`() async throws {
        let token = SimulatedToken.apns()
        #expect(try await bench.push(token).status == 200)
        bench.simulator.removeDevice(token)
        let gone = try await bench.push(token)
        #expect(gone.status == 410)
        #expect(gone["reason"] == "Unregistered")
        bench.simulator.restoreDevice(token)
        #expect(try await bench.push(token).status == 200)
    }
}
