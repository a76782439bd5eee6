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
    ])
    func `an unusable string is refused without quoting it`(url: String) {
        let error = #expect(throws: PostgresError.self) { try PostgresConfiguration(url: url) }
        #expect(error?.kind == .invalidConfiguration)
        #expect(!String(reflecting: error).contains("s3cret"))
    }

    @Test func `every session gets its limits`() throws {
        let options = try #require(PostgresConfiguration(url: "host=db").sessionInfo.values["options"])
        for option in [
            "statement_timeout=15000", "lock_timeout=5000", "idle_in_transaction_session_timeout=10000", "TimeZone=UTC",
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
