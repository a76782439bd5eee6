import CarillonCore
import CarillonEdge
import CarillonHTTP
import CarillonTesting
import CoreMetrics
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import Testing

@Suite struct ProviderTests {
    @Test func `providers are listed with the circuits of the caller's network`() async throws {
        let lanes = [
            LaneStatus(
                lane: Lane(networkID: NetworkID(trusted: "acme"), provider: .webhook, appID: "chat.example:443"),
                circuit: .open,
                since: TestAPI.now,
                reason: "connection refused"
            ),
            LaneStatus(lane: Lane(networkID: NetworkID(trusted: "other"), provider: .log, appID: ""), circuit: .open),
        ]
        var braked = LaneStatus(
            lane: Lane(networkID: NetworkID(trusted: "acme"), provider: .fcm, appID: "chat"),
            circuit: .closed
        )
        braked.brake = LaneStatus.Brake(since: TestAPI.now, reason: "brake: 60 of 130 devices reported as gone")
        try await withAPI(lanes: lanes + [braked]) { api in
            let network = try await api.makeNetwork()
            let answer = try await api.call(.get, network.path("providers"), as: network.adminKey)
            #expect(
                answer.text == """
                    {"items":[{"provider":"fcm","appId":"chat","host":null,"circuit":"closed","since":null,"reason":null,\
                    "brake":{"since":"2026-11-24T12:00:00.000Z","reason":"brake: 60 of 130 devices reported as gone"}},\
                    {"provider":"log","appId":null,"host":null,"circuit":"closed","since":null,"reason":null,"brake":null},\
                    {"provider":"webhook","appId":null,"host":"chat.example:443","circuit":"open",\
                    "since":"2026-11-24T12:00:00.000Z","reason":"connection refused","brake":null}]}
                    """
            )
        }
    }

    @Test func `credentials are listed, with their own lanes where they have some`() async throws {
        let lanes = [
            LaneStatus(
                lane: Lane(networkID: NetworkID(trusted: "acme"), provider: .apns, appID: "one"),
                circuit: .open,
                since: TestAPI.now,
                reason: "no credential for one"
            ),
            LaneStatus(
                lane: Lane(networkID: NetworkID(trusted: "acme"), provider: .webpush, appID: "push.example"),
                circuit: .closed
            ),
        ]
        try await withAPI(lanes: lanes) { api in
            let network = try await api.makeNetwork()
            let other = try await api.makeNetwork("other")
            for app in ["one", "two"] {
                let path = "providers/apns/apps/\(app)"
                _ = try await api.call(.put, network.path(path), SampleCredentials.apns(), as: network.adminKey)
            }
            _ = try await api.call(
                .put,
                other.path("providers/apns/apps/three"),
                SampleCredentials.apns(),
                as: other.adminKey
            )
            _ = try await api.call(.get, network.path("providers/webpush"), as: network.adminKey)
            let answer = try await api.call(.get, network.path("providers"), as: network.adminKey)
            let names = (0..<6).map { index in
                ["provider", "appId", "host", "circuit"].map { key in
                    if case .string(let text)? = answer["items", "\(index)", key] { text } else { "-" }
                }.joined(separator: " ")
            }
            #expect(
                names == [
                    "apns one - open", "apns two - closed", "log - - closed", "webhook - - closed",
                    "webpush - push.example closed", "- - - -",
                ]
            )
        }
    }

    @Test func `the webhook secret is shown once`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let path = network.path("providers/webhook")
            #expect(try await api.call(.put, path, "{}", as: network.adminKey).text == #"{"provider":"webhook"}"#)
            #expect(try await api.call(.put, path, #"{"url":"x"}"#, as: network.adminKey).pointers == ["/url"])
            let first = try await api.call(.post, path + "/secret", as: network.adminKey)
            #expect(first.status == 201)
            let secret = try #require(first.string("secret"))
            let shown = try await api.call(.get, path, as: network.adminKey)
            #expect(shown.status == 200 && !shown.text.contains(secret))
            let id = NetworkID(trusted: "acme")
            let second = try await api.call(.post, path + "/secret", #"{"overlapSeconds":60}"#, as: network.adminKey)
            let both = [try #require(second.string("secret")), secret].map { WebhookSecret($0) }
            #expect(try await api.store.accounts.outgoingWebhookSecrets(of: id, candidate: .generate()) == both)
            #expect(try await api.call(.delete, path, as: network.adminKey).status == 204)
            let fresh = try await api.store.accounts.outgoingWebhookSecrets(of: id, candidate: .generate())
            #expect(fresh.count == 1 && !both.contains(fresh.first))
            // What is being sent with the former ones is to stop.
            #expect(api.dispatcher.told == Array(repeating: "changed acme/webhook/*", count: 3))
        }
    }

    @Test func `dead letters are listed, retried and forgotten`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let letters = try await api.store.giveUp(count: 3, in: NetworkID(trusted: "acme"), at: TestAPI.now)
            let first = try await api.call(.get, network.path("dead-letters?limit=2"), as: network.adminKey)
            #expect(first["items", "0", "reason"] == "410" && first["items", "0", "appId"] == .some(.null))
            let cursor = try #require(first.string("next"))
            let rest = try await api.call(.get, network.path("dead-letters?cursor=\(cursor)"), as: network.adminKey)
            #expect(rest["items", "0", "id"] == .string(letters[2].canonicalText))
            let path = network.path("dead-letters/\(letters[0].canonicalText)")
            let other = try await api.makeNetwork("other")
            let foreign = other.path("dead-letters/\(letters[0].canonicalText)")
            #expect(try await api.call(.post, foreign + "/retry", as: other.adminKey).status == 404)
            #expect(try await api.call(.delete, foreign, as: other.adminKey).status == 404)
            #expect(try await api.call(.post, path + "/retry", as: network.adminKey).status == 202)
            #expect(try await api.call(.post, path + "/retry", as: network.adminKey).status == 404)
            #expect(try await api.call(.delete, path, as: network.adminKey).status == 404)
            let second = network.path("dead-letters/\(letters[1].canonicalText)")
            #expect(try await api.call(.delete, second, as: network.adminKey).status == 204)
            #expect(try await api.call(.delete, network.path("dead-letters/x"), as: network.adminKey).status == 404)
        }
    }
}

@Suite struct StuckQueueTests {
    private static let failure = StuckQueue.Failure(.deliveries, reason: "could not load library /usr/lib/plpgsql.so")

    @Test(arguments: [nil, StuckQueue(waited: .milliseconds(81_500), failures: [failure])])
    func `admins are told that work is due that cannot be claimed, and not what the database says of itself`(
        stuck: StuckQueue?
    ) async throws {
        try await withAPI(stuckQueue: stuck) { api in
            let network = try await api.makeNetwork()
            let answer = try await api.call(.get, network.path("providers"), as: network.adminKey)
            let expected: JSONValue = ["oldestSeconds": 81, "failing": ["claiming due deliveries"]]
            #expect(answer["queue"] == stuck.map { _ in expected })
            #expect(answer["items", "0", "circuit"] == "closed")
            #expect(!answer.text.contains("library"))
        }
    }
}

@Suite struct ManagementTests {
    private func answer(_ path: String, notReady: [String] = [], warnings: [String] = []) async throws -> Answer {
        let router = ManagementRouter.make(
            reasonsNotReady: { notReady },
            warnings: { warnings },
            exposition: { "carillon_up 1\n" },
            metrics: NOOPMetricsHandler.instance
        )
        return try await Application(router: router, logger: .silent).test(.router) { client in
            Answer(try await client.execute(uri: path, method: .get))
        }
    }

    @Test func `answers about health are for those who look for them in the log`() async throws {
        let log = CollectedLog()
        let router = ManagementRouter.make(
            reasonsNotReady: { ["PostgreSQL cannot be reached"] },
            exposition: { "" },
            metrics: NOOPMetricsHandler.instance
        )
        try await Application(router: router, logger: log.logger(from: .info)).test(.router) { client in
            for path in ["/health/ready", "/health/live"] { _ = try await client.execute(uri: path, method: .get) }
        }
        #expect(log.lines("Request answered").isEmpty && log.lines("Request could not be served").isEmpty)
    }

    @Test func `a live and ready service says so`() async throws {
        #expect(try await answer("/health/live").text == #"{"status":"live"}"#)
        #expect(try await answer("/health/ready").text == #"{"status":"ready"}"#)
    }

    @Test func `a service that is not ready says why`() async throws {
        let answer = try await answer("/health/ready", notReady: ["PostgreSQL cannot be reached"])
        #expect(answer.status == 503)
        #expect(answer.problem == "not-ready")
        #expect(answer.string("detail") == "PostgreSQL cannot be reached")
        #expect(try await self.answer("/health/live", notReady: ["x"]).status == 200)
    }

    @Test func `a service that works says what an operator should look at`() async throws {
        let answer = try await answer("/health/ready", warnings: ["few files"])
        #expect(answer.status == 200)
        #expect(answer.text == #"{"status":"ready","warnings":["few files"]}"#)
    }

    @Test func `metrics are Prometheus text`() async throws {
        let answer = try await answer("/metrics")
        #expect(answer.text == "carillon_up 1\n")
        #expect(answer.headers[.contentType]?.hasPrefix("text/plain; version=0.0.4") == true)
    }

    @Test func `the public API is not on this port`() async throws {
        #expect(try await answer("/v1/networks").status == 404)
    }
}
