@testable import CarillonCore
@testable import CarillonStore
import CarillonTesting
import Testing

@testable import Postgres
@testable import carillon

extension Finding {
    /// As a line says it.
    fileprivate var words: String { "\(verdict.rawValue) \(subject): \(detail)" }
}

/// What doctor says of endpoints.
@Suite struct EndpointChecksTests {
    private func condition(
        _ role: EndpointRole = .observe(.init()),
        isReadable: Bool = true,
        isEnabled: Bool = true,
        pause: String? = nil,
        error: String? = nil,
        backlog: Int = 0
    ) -> EndpointCondition {
        var endpoint = Endpoint.sample("e-1", role)
        if !isEnabled { endpoint.set(.disabled, reason: "http 410", at: .seconds(1)) }
        endpoint.lastError = error
        return EndpointCondition(
            network: "acme",
            endpoint: endpoint,
            isReadable: isReadable,
            pause: pause,
            backlog: backlog
        )
    }

    private func words(_ condition: EndpointCondition) -> String {
        EndpointChecks.findings(of: [condition]).map(\.words).joined(separator: "\n")
    }

    @Test func `what is well is one line, and so is none`() {
        #expect(EndpointChecks.findings(of: []) == [.ok("endpoints", "no network has any")])
        #expect(words(condition()) == "ok endpoints: 1 of 1 are well")
        #expect(words(condition(error: "http 503")) == "ok endpoints: 1 of 1 are well", "it is tried again")
    }

    @Test func `each trouble is named with what to do about it`() {
        let cases: [(EndpointCondition, String)] = [
            (condition(isReadable: false), "FAIL endpoint acme/e-1: its secret cannot be read"),
            (condition(isEnabled: false), "(http 410): PATCH"),
            (condition(pause: "ten failures"), "warn endpoint acme/e-1: the circuit is open (ten failures)"),
            (
                condition(.intercept(.init()), error: "timeout"),
                "warn endpoint acme/e-1: the last question failed (timeout)"
            ),
            (condition(backlog: 700), "700 messages wait for it"),
            (condition(backlog: EndpointConditionReader.mostCounted), "1000 or more messages wait for it"),
        ]
        for (condition, expected) in cases {
            #expect(words(condition).contains(expected), "\(words(condition))")
            #expect(!words(condition).contains("0 of 1"), "where none is well, nothing is said of the others")
        }
        let both = EndpointChecks.findings(of: [condition(isEnabled: false), condition()])
        #expect(both.map(\.verdict) == [.warn, .ok])
        #expect(both.last == .ok("endpoints", "1 of 2 are well"))
    }
}

/// What doctor says of a pooler.
@Suite struct PoolerChecksTests {
    @Test(
        arguments: [
            (.none, true, "ok pooler: none"),
            (.session, true, "ok pooler: there is one, which gives each connection its session"),
            (.transaction(keepsStatements: false), true, "FAIL statements: prepared statements are lost"),
            (.transaction(keepsStatements: true), true, "ok statements: are prepared once"),
            (.transaction(keepsStatements: nil), true, "warn statements: are prepared once"),
            (.transaction(keepsStatements: false), false, "ok statements: are sent whole"),
            (.transaction(keepsStatements: true), false, "would work without"),
            (.transaction(keepsStatements: nil), false, "ok statements: are sent whole"),
        ] as [(PoolMode, Bool, String)]
    )
    func `it says whether there is one, and what becomes of statements`(
        mode: PoolMode,
        preparesStatements: Bool,
        expected: String
    ) {
        let words = PoolerChecks.findings(mode, preparesStatements: preparesStatements).map(\.words)
        #expect(words.contains { $0.contains(expected) }, "\(words)")
    }

    @Test func `what is in force is shown, and what lacks with the statement that gives it to the role`() {
        func finding(_ found: String?) -> Finding {
            let setting = SessionSettings.Setting(name: "jit", wanted: "off", found: found)
            return PoolerChecks.finding(SessionSettings(role: "chat", database: "push", settings: [setting]))
        }
        #expect(finding("off") == .ok("settings", "in force: jit off"))
        #expect(finding(nil).verdict == .fail)
        #expect(finding("on").detail.hasPrefix("jit is on: "))
        #expect(finding("on").detail.hasSuffix(#"ALTER ROLE "chat" IN DATABASE "push" SET jit TO 'off';"#))
    }
}

@Suite struct FaceChecksTests {
    private static func findings(_ settings: JSONObject, face: FaceName = .matrix, name: String = "a") -> [String] {
        let binding = FaceBinding(face, name, settings)
        let apps: Set = [DeviceSelection.App(.apns, "known"), DeviceSelection.App(.fcm, "android")]
        return FaceChecks.findings(of: [binding], apps: ["acme": apps]).filter { $0.verdict != .ok }.map {
            "\($0.subject): \($0.detail)"
        }
    }

    @Test(
        arguments: [
            (["provider": "apns", "appId": "com.acme"], "apns credential for com.acme"),
            (["provider": "fcm", "appId": "known"], "fcm credential for known"),
            (["provider": "apns"], "apns credential for a"),
            (["ios": ["appId": "known"], "android": ["appId": "other"]], "fcm credential for other"),
            (["A": ["appId": "other"]], "apns credential for other"),
        ] as [(JSONObject, String)]
    )
    func `an app that nobody has a credential for is named`(settings: JSONObject, missing: String) {
        let findings = Self.findings(settings)
        #expect(findings == ["face acme/matrix/a: there is no \(missing), so nothing is sent: PUT one"])
    }

    @Test(
        arguments: [
            ["provider": "apns", "appId": "known"], ["provider": "webpush"], ["provider": "apns", "retired": true], [:],
            ["ios": ["appId": "known"], "android": ["appId": "android"]],
        ] as [JSONObject]
    )
    func `what has a credential, or needs none, is well`(settings: JSONObject) {
        #expect(Self.findings(settings).isEmpty)
    }

    @Test func `a pattern without an app is no app`() {
        #expect(Self.findings(["provider": "apns"], name: "com.acme.*").isEmpty)
    }

    @Test func `how many are well is said in one line`() {
        #expect(FaceChecks.findings(of: [], apps: [:]) == [.ok("faces", "no network has a name in another system")])
    }
}

/// What doctor says of a network's lanes, and of apps that nothing can be sent to.
@Suite struct LaneChecksTests {
    @Test func `each lane that is paused fails with its reason`() {
        let open = LaneStatus(
            lane: Lane(networkID: "acme", provider: .apns, appID: "com.acme.chat"),
            circuit: .open,
            since: Timestamp(milliseconds: 0),
            reason: "403 InvalidProviderToken"
        )
        var braked = LaneStatus(lane: Lane(networkID: "acme", provider: .fcm, appID: "app"), circuit: .closed)
        braked.brake = .init(since: Timestamp(milliseconds: 0), reason: "30 of 40")
        #expect(
            LaneChecks.findings(of: [braked, open]).map(\.words) == [
                "FAIL lane apns/com.acme.chat: the circuit is open since 1970-01-01T00:00:00.000Z: 403 InvalidProviderToken; "
                    + "what is sent through it waits",
                "warn lane fcm/app: devices that are reported as gone since 1970-01-01T00:00:00.000Z are not believed (30 of 40): "
                    + "POST …/release lets go",
            ]
        )
        #expect(LaneChecks.findings(of: []).map(\.words) == ["ok lanes: none is paused"])
    }

    @Test func `apps with devices and no credential fail`() {
        let apps: [DeviceSelection.App] = [
            .init(.webpush, "push.example"), .init(.webpush, "other.example"), .init(.fcm, "one"), .init(.fcm, "two"),
            .init(.log, ""), .init(.webhook, "bot.example"),
        ]
        #expect(
            LaneChecks.findings(of: apps, with: [(.fcm, "one")]).map(\.words) == [
                "FAIL fcm two: there are devices and no credential, so that nothing is sent to them: PUT /providers/fcm/apps/two",
                "FAIL webpush: there are devices and no credential, so that nothing is sent to them: PUT /providers/webpush",
            ]
        )
        #expect(LaneChecks.findings(of: apps, with: [(.fcm, "one"), (.fcm, "two"), (.webpush, "")]).isEmpty)
    }
}

/// What `doctor --all` says of networks.
@Suite struct OverviewChecksTests {
    private func report(_ id: String, _ troubles: [NetworkTrouble], waiting seconds: Int = 0) -> NetworkReport {
        NetworkReport(
            network: NamedNetwork(id: NetworkID(trusted: id), displayName: nil),
            state: .failing,
            troubles: troubles,
            eventsOfLastHour: 120,
            oldestWait: .seconds(seconds)
        )
    }

    @Test func `each network with something wrong is one line, in the order of the overview`() {
        let lane = NetworkTrouble(.lane, "apns/app", since: .epoch, "403")
        let letters = NetworkTrouble(.deadLetters, "fcm/app", since: nil, "2 dead letters")
        let reports = [report("b", [lane, letters], waiting: 81), report("a", [letters])]
        #expect(
            OverviewChecks.findings(of: reports, among: 9).map(\.words) == [
                "FAIL network b: lane apns/app since 1970-01-01T00:00:00.000Z: 403; deadLetters fcm/app: 2 dead letters; "
                    + "work has been waiting for 81 s; events of the last hour: 120",
                "warn network a: deadLetters fcm/app: 2 dead letters; events of the last hour: 120",
                "ok networks: 7 of 9 are well",
            ]
        )
        #expect(OverviewChecks.findings(of: [], among: 0).map(\.words) == ["ok networks: there are none"])
        #expect(OverviewChecks.findings(of: [], among: 1).map(\.words) == ["ok networks: 1 of 1 are well"])
    }
}

/// What doctor says of the servers that know whose foreign tokens are.
@Suite struct IntrospectionChecksTests {
    /// Answers for each network as it was told.
    private struct Server: UserTokenAsker {
        var answers: [NetworkID: UserTokenAnswer]

        func ask(
            _ introspection: UserTokenIntrospection,
            about token: Secret,
            in network: NetworkID
        ) async -> UserTokenAnswer {
            token.reveal { $0.hasPrefix("carillon-doctor-") } ? answers[network] ?? .nobody : .failed(reason: "token")
        }
    }

    private func network(_ id: String, asks: Bool = true) -> Network {
        var network = Network(id: NetworkID(trusted: id), createdAt: Timestamp(milliseconds: 0))
        if asks { network.introspection = UserTokenIntrospection(url: "https://chat.example", userIDPointer: "/id") }
        return network
    }

    private func words(_ networks: [Network], _ answers: [NetworkID: UserTokenAnswer] = [:]) async -> [String] {
        await IntrospectionChecks(Server(answers: answers)).findings(of: networks).map(\.words)
    }

    @Test func `a server that does not answer, or believes anybody, is named`() async {
        let networks = ["acme", "other", "third"].map { network($0) }
        let answers: [NetworkID: UserTokenAnswer] = ["acme": .failed(reason: "http 502"), "other": .user("alice")]
        #expect(
            await words(networks, answers) == [
                "warn token introspection acme: no answer (http 502), so that users with foreign tokens are turned away",
                "FAIL token introspection other: the server says that a made-up token is a user's, so that anybody is believed: mend it",
                "ok token introspection: 1 of 3 servers know nobody of a made-up token",
            ]
        )
    }

    @Test func `nobody's server is no trouble, and of very many the first are asked`() async {
        #expect(await words([]) == ["ok token introspection: no network has any"])
        #expect(await words([network("acme", asks: false)]) == ["ok token introspection: no network has any"])
        let many = (0...IntrospectionChecks.mostNetworks).map { network("n\($0)") }
        #expect(
            await words(many) == [
                "ok token introspection: 100 of 100 servers know nobody of a made-up token; only the first were asked"
            ]
        )
    }
}

@Suite struct DisclosureChecksTests {
    @Test func `other roles that may use the tables are named`() async throws {
        try await TestDatabase.withPool { pool in
            #expect(try await DisclosureChecks.findings(pool) == [])
            try await pool.execute("GRANT SELECT ON events_default TO PUBLIC")
            try await pool.execute("GRANT SELECT ON devices TO CURRENT_USER")
            try await pool.execute("GRANT INSERT ON api_keys TO pg_monitor")
            try await pool.execute("GRANT SELECT ON changes TO pg_read_all_stats")
            let words = try await DisclosureChecks.findings(pool).map(\.words)
            #expect(words.count == 1 && words.allSatisfy { $0.contains("PUBLIC, pg_monitor may use") }, "\(words)")
        }
    }

    @Test(arguments: [
        (["log_statement": "none", "log_min_duration_statement": "-1"], false), (["log_statement": "ddl"], false),
        (["log_statement": "mod"], true), (["log_statement": "all", "log_parameter_max_length": "-1"], true),
        (["log_min_duration_statement": "500"], true), (["log_min_duration_sample": "0"], true),
        (["log_statement": "all", "log_parameter_max_length": "0"], false), ([:], false),
    ])
    func `a log that gets what people write is spoken of`(settings: [String: String], isSpokenOf: Bool) {
        #expect((DisclosureChecks.finding(ofLog: settings) != nil) == isSpokenOf)
    }
}
