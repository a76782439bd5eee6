@testable import CarillonCore
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

@Suite(.acme) struct ProviderTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }

    @Test func `providers are listed with the circuits of the caller's network`() async throws {
        let lanes = [
            LaneStatus(
                lane: Lane(networkID: "acme", provider: .webhook, appID: "chat.example:443"),
                circuit: .open,
                since: TestAPI.now,
                reason: "connection refused"
            ),
            LaneStatus(lane: Lane(networkID: "other", provider: .log, appID: ""), circuit: .open),
        ]
        var braked = LaneStatus(lane: Lane(networkID: "acme", provider: .fcm, appID: "chat"), circuit: .closed)
        braked.brake = LaneStatus.Brake(since: TestAPI.now, reason: "brake: 60 of 130 devices reported as gone")
        try await withAPI(lanes: lanes + [braked]) { api in
            let network = try await api.makeNetwork()
            let answer = try await network.call(.get, "providers")
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
                lane: Lane(networkID: "acme", provider: .apns, appID: "one"),
                circuit: .open,
                since: TestAPI.now,
                reason: "no credential for one"
            ),
            LaneStatus(lane: Lane(networkID: "acme", provider: .webpush, appID: "push.example"), circuit: .closed),
        ]
        try await withAPI(lanes: lanes) { api in
            let network = try await api.makeNetwork()
            let other = try await api.makeNetwork("other")
            for app in ["one", "two"] {
                let path = "providers/apns/apps/\(app)"
                _ = try await network.call(.put, path, SampleCredentials.apns())
            }
            _ = try await other.call(.put, "providers/apns/apps/three", SampleCredentials.apns())
            _ = try await network.call(.get, "providers/webpush")
            let answer = try await network.call(.get, "providers")
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
        let path = network.path("providers/webhook")
        #expect(try await network.call(.put, path, "{}").text == #"{"provider":"webhook"}"#)
        #expect(try await network.call(.put, path, #"{"url":"x"}"#).pointers == ["/url"])
        let first = try await network.call(.post, path + "/secret")
        #expect(first.status == 201)
        let secret = try #require(first.string("secret"))
        let shown = try await network.call(.get, path)
        #expect(shown.status == 200 && !shown.text.contains(secret))
        let id = NetworkID(trusted: "acme")
        let second = try await network.call(.post, path + "/secret", #"{"overlapSeconds":60}"#)
        let both = [try #require(second.string("secret")), secret].map { WebhookSecret($0) }
        #expect(try await api.store.accounts.outgoingWebhookSecrets(of: id, candidate: .generate()) == both)
        #expect(try await network.call(.delete, path).status == 204)
        let fresh = try await api.store.accounts.outgoingWebhookSecrets(of: id, candidate: .generate())
        #expect(fresh.count == 1 && !both.contains(fresh.first))
        // What is being sent with the former ones is to stop.
        #expect(api.dispatcher.told == Array(repeating: "changed acme/webhook/*", count: 3))
    }

    @Test func `dead letters are listed, retried and forgotten`() async throws {
        let letters = try await api.store.giveUp(count: 3, in: "acme", at: TestAPI.now)
        let first = try await network.call(.get, "dead-letters?limit=2")
        #expect(first["items", "0", "reason"] == "410" && first["items", "0", "appId"] == .some(.null))
        let cursor = try #require(first.string("next"))
        let rest = try await network.call(.get, "dead-letters?cursor=\(cursor)")
        #expect(rest["items", "0", "id"] == .string(letters[2].canonicalText))
        let path = network.path("dead-letters/\(letters[0].canonicalText)")
        let other = try await api.makeNetwork("other")
        let foreign = other.path("dead-letters/\(letters[0].canonicalText)")
        #expect(try await other.call(.post, foreign + "/retry").status == 404)
        #expect(try await other.call(.delete, foreign).status == 404)
        #expect(try await network.call(.post, path + "/retry").status == 202)
        #expect(try await network.call(.post, path + "/retry").status == 404)
        #expect(try await network.call(.delete, path).status == 404)
        let second = network.path("dead-letters/\(letters[1].canonicalText)")
        #expect(try await network.call(.delete, second).status == 204)
        #expect(try await network.call(.delete, "dead-letters/x").status == 404)
    }
}

@Suite struct StuckQueueTests {
    private static let failure = StuckQueue.Failure(
        step: .deliveries,
        reason: "could not load library /usr/lib/plpgsql.so"
    )

    @Test(arguments: [nil, StuckQueue(waited: .milliseconds(81_500), failures: [failure])])
    func `admins are told that work is due that cannot be claimed, and not what the database says of itself`(
        stuck: StuckQueue?
    ) async throws {
        try await withAPI(stuckQueue: stuck) { api in
            let network = try await api.makeNetwork()
            let answer = try await network.call(.get, "providers")
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
            health: { ServiceHealth(reasonsNotReady: notReady, warnings: warnings) },
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
            health: { ServiceHealth(reasonsNotReady: ["PostgreSQL cannot be reached"]) },
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
        #expect(answer.refusal == "503 not-ready")
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

@Suite(.acme) struct BrakeTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }

    @Test(
        arguments: [
            ("apns/apps/com.acme.chat", #"{"host":"x"}"#, ["/host"]), ("fcm/apps/com.acme.chat", "[]", [""]),
            ("webpush", "{}", ["/host"]), ("webpush", #"{"host":""}"#, ["/host"]),
            ("webpush", #"{"host":"push.example/x"}"#, ["/host"]),
            ("webpush", #"{"host":"a b","x":1}"#, ["/host", "/x"]),
            ("webpush", #"{"host":["push.example"]}"#, ["/host"]),
            ("webpush", #"{"host":"\#(String(repeating: "a", count: 256))"}"#, ["/host"]),
        ]
    )
    func `a lane that is badly named is 400`(path: String, body: String, pointers: [String]) async throws {
        let path = network.path("providers/\(path)/release")
        let answer = try await network.call(.post, path, body)
        #expect(answer.refusal == "400 invalid-release")
        #expect(answer.pointers == pointers)
        #expect(api.dispatcher.told.isEmpty)
    }

    @Test(
        arguments: [
            ("apns/apps/com.acme.chat", nil), ("fcm/apps/com.acme.chat", nil), ("webpush", #"{"host":"push.example"}"#),
        ]
    )
    func `only admins of the network let a brake go`(path: String, body: String?) async throws {
        let other = try await api.makeNetwork("other")
        let path = network.path("providers/\(path)/release")
        let strangers = [
            try await api.makeKey("device", in: network), try await api.makeKey("events", in: network),
            network.token(),
        ]
        for stranger in strangers {
            #expect(try await api.call(.post, path, body, as: stranger).status == 403)
        }
        #expect(try await api.call(.post, path, body).status == 401)
        #expect(try await other.call(.post, path, body).status == 404)
        for provider in ["log", "webhook"] {
            let path = network.path("providers/\(provider)/release")
            #expect(try await network.call(.post, path).status == 404)
        }
        #expect(try await network.call(.get, path).status == 405)
        #expect(api.dispatcher.told.isEmpty)
    }

    @Test func `a brake is let go for an hour, by app or by host`() async throws {
        for (path, body) in [
            ("apns/apps/com.acme%2Fchat", nil), ("fcm/apps/x", "{}"), ("webpush", #"{"host":"Push.example:8443"}"#),
        ] {
            let path = network.path("providers/\(path)/release")
            let answer = try await network.call(.post, path, body)
            #expect(answer.status == 202)
            #expect(answer.text == #"{"until":"2026-11-24T13:00:00.000Z"}"#)
        }
        let until = "until 2026-11-24T13:00:00.000Z"
        #expect(
            api.dispatcher.told == [
                "released acme/apns/com.acme/chat \(until)", "released acme/fcm/x \(until)",
                "released acme/webpush/push.example:8443 \(until)",
            ]
        )
    }
}
