import Testing

@testable import Postgres

@Suite struct PostgresConfigurationTests {
    @Test(arguments: [
        "postgresql://alice:s3cret@db.example.com:5433/app", "postgres://alice:s3cret@db.example.com:5433/app",
        "host=db.example.com port=5433 user=alice password=s3cret dbname=app",
    ])
    func `no description holds the password`(url: String) throws {
        let configuration = try PostgresConfiguration(url: url)
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in [configuration.description, String(reflecting: configuration), "\(configuration)", dumped] {
            #expect(!text.contains("s3cret"))
            #expect(text.contains("host=db.example.com port=5433 dbname=app user=alice"))
        }
    }

    @Test(arguments: [
        "postgresql://alice:s3cret%zz@db/app", "postgres://alice:s3cret@[::1", "nonsense=s3cret", "host=a\0b",
        "postgres://alice:s3cret@db:1x/app", "postgres://alice:s3cret@db:0/app",
        "postgres://alice:s3cret@a:1,b:70000/app",
        "postgres://alice:s3cret@more@db/app", "postgres://alice:s3cret@db/app?sslmode=some",
        "postgres://alice:s3cret@db/app?target_session_attrs=best",
        "host=a,b port=5432,x password=s3cret", "postgres://alice:s3cret@db/app?port=-1",
    ])
    func `an unusable string is refused without quoting it`(url: String) {
        let error = #expect(throws: PostgresError.self) { try PostgresConfiguration(url: url) }
        #expect(error?.kind == .invalidConfiguration)
        #expect(!String(reflecting: error).contains("s3cret"))
    }

    @Test(arguments: [
        ("coordinator=db%2D1:6000", "host=db-1 port=6000 dbname=app user=alice"),
        ("coordinator=db-1", "host=db-1 dbname=app user=alice"),
        ("coordinator=%2Ftmp%2Fdb:7", "host=/tmp/db port=7 dbname=app user=alice"),
        ("coordinator=%5B::1%5D:7", "host=::1 port=7 dbname=app user=alice"),
    ])
    func `a URL may name another server, for what only that one can do`(parameter: String, place: String) throws {
        let url = "postgres://alice:s3cret@worker:5433/app?connect_timeout=9&\(parameter)&options=-c%20search_path%3Dp1"
        let configuration = try PostgresConfiguration(url: url.replacing("%5B", with: "[").replacing("%5D", with: "]"))
        #expect(configuration.description == "host=worker port=5433 dbname=app user=alice")
        let other = try #require(configuration.atCoordinator)
        #expect(other.description == place)
        for keyword in ["password", "connect_timeout", "options"] {
            #expect(other.connectionInfo.values[keyword] == configuration.connectionInfo.values[keyword], "\(keyword)")
        }
        #expect(configuration.connectionInfo.settings.map(\.value) == ["p1"])
        #expect(other.atCoordinator == nil)
        #expect(try PostgresConfiguration(url: "postgres://worker/app?connect_timeout=9").atCoordinator == nil)
        #expect(throws: PostgresError.self) { try PostgresConfiguration(url: "postgres://worker/app?coordinator=") }
    }

    @Test func `every session gets its limits`() throws {
        let options = try #require(PostgresConfiguration(url: "host=db").sessionInfo.values["options"])
        for option in [
            "statement_timeout=15000", "lock_timeout=5000", "idle_in_transaction_session_timeout=10000", "TimeZone=UTC",
            #"default_transaction_isolation=read\ committed"#,
        ] {
            #expect(options.contains("-c \(option)"))
        }
        let values = try PostgresConfiguration(url: "host=db").sessionInfo.values
        #expect(values["client_encoding"] == "UTF8")
        #expect(values["application_name"] == "carillon")
        #expect(values["tcp_user_timeout"] == "10000")
        #expect(values["keepalives_idle"] == "15")
        #expect(values["connect_timeout"] == "3")
    }

    @Test func `settings in the string win`() throws {
        let url = "postgresql://db/app?application_name=mine&connect_timeout=9&options=-c%20statement_timeout%3D1"
        let values = try PostgresConfiguration(url: url).sessionInfo.values
        #expect(values["application_name"] == "mine")
        #expect(values["connect_timeout"] == "9")
        #expect(values["options"]?.hasSuffix("-c TimeZone=UTC -c statement_timeout=1") == true)
    }

    @Test func `what sessions are to have is each setting once, as the string says where it says so`() throws {
        let options = #"-c statement_timeout=1 --lock-timeout=2 -csearch_path=a\ b -B 3 - -c"#
        let quoted = options.replacing(#"\"#, with: #"\\"#)
        var configuration = try PostgresConfiguration(url: "host=db options='\(quoted)'")
        configuration.sessionSettings = ["jit": "off"]
        #expect(
            configuration.wantedSettings.map { "\($0.name)=\($0.value)" } == [
                "idle_in_transaction_session_timeout=10000", "default_transaction_isolation=read committed",
                "TimeZone=UTC", "jit=off", "statement_timeout=1", "lock_timeout=2", "search_path=a b",
            ]
        )
        #expect(configuration.infoWithoutSettings.values["options"]?.hasPrefix("-c statement_timeout=1") == true)
    }

    @Test(arguments: [
        "unsupported startup parameter: options", "unsupported startup parameter in options: jit",
        "Feature not supported: RDS Proxy currently doesn’t support command-line options.",
    ])
    func `a pooler that takes no settings is told from a server that is away`(words: String) {
        let reason = "connection to server at \"db\", port 6432 failed: FATAL:  \(words)"
        #expect(PostgresError(.connectionFailed, reason: reason).refusal == .noSettings)
    }

    @Test func `a setting lacks unless it is in force, and a limit of time may be another one`() {
        func lacks(_ name: String, _ wanted: String, _ found: String?) -> Bool {
            !SessionSettings.Setting(name: name, wanted: wanted, found: found).isInForce
        }
        #expect(!lacks("lock_timeout", "5s", "3s") && lacks("lock_timeout", "5s", "0"))
        #expect(lacks("lock_timeout", "0", "5s"))
        #expect(lacks("citus.propagate_set_commands", "local", nil) && lacks("jit", "off", ""))
        #expect(!lacks("search_path", "a,b", "a, b") && lacks("search_path", "a", "public"))
    }

    @Test func `what lacks is given to the role by statements that quote what they name`() {
        let session = SessionSettings(
            role: "it's",
            database: "a\"b",
            settings: [
                .init(name: "jit", wanted: "off", found: "off"), .init(name: "TimeZone", wanted: "U'TC", found: "GMT"),
                .init(name: "search_path", wanted: "a, b", found: "public"),
            ]
        )
        #expect(
            session.remedy == [
                #"ALTER ROLE "it's" IN DATABASE "a""b" SET TimeZone TO 'U''TC';"#,
                #"ALTER ROLE "it's" IN DATABASE "a""b" SET search_path TO a, b;"#,
            ]
        )
    }

    @Test(arguments: [
        ("host=a", "read-write", true), ("host=a,b", "read-write", true),
        ("postgresql://a:1,b:2/x", "read-write", true),
        ("hostaddr=10.0.0.1,10.0.0.2", "read-write", true), ("host=a,b target_session_attrs=any", "any", false),
        ("host=a target_session_attrs=primary", "primary", true),
        ("host=a,b target_session_attrs=prefer-standby", "prefer-standby", false),
    ])
    func `only a server that accepts writes is meant unless the string says otherwise`(
        url: String,
        attributes: String,
        requiresPrimary: Bool
    ) throws {
        let configuration = try PostgresConfiguration(url: url)
        #expect(configuration.sessionInfo.values["target_session_attrs"] == attributes)
        #expect(configuration.connectionInfo.requiresPrimary == requiresPrimary)
    }

    @Test func `no limit on the server means none here`() throws {
        let configuration = try PostgresConfiguration(url: "host=db")
        #expect(configuration.replyTimeout(forStatementTimeout: .zero) == nil)
        #expect(configuration.replyTimeout(forStatementTimeout: .seconds(1)) == .seconds(6))
    }

    @Test(arguments: [
        (Duration.milliseconds(1500), Int64(1500)), (.microseconds(1), 1), (.zero, 0), (.seconds(-1), -1000),
    ])
    func `a tiny timeout is not rounded to none`(duration: Duration, milliseconds: Int64) {
        #expect(duration.roundedUpMilliseconds == milliseconds)
    }

    @Test(arguments: [(0, 0), (1, 25), (2, 50), (3, 100), (6, 500), (64, 500)])
    func `backs off twice as long each time, up to the limit`(failures: Int, milliseconds: Int) {
        let backoff = Backoff(base: .milliseconds(50), limit: .seconds(1))
        #expect(backoff.delay(afterFailures: failures, jitter: 0) == .milliseconds(milliseconds))
        #expect(backoff.delay(afterFailures: failures, jitter: 0.5) == .milliseconds(milliseconds) * 1.5)
    }
}
