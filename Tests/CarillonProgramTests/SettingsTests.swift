import CarillonCore
import CarillonEdge
import CarillonHTTP
import Foundation
import Logging
import NIOSSL
import Testing

@testable import carillon

@Suite struct SettingsTests {
    private let token = String(repeating: "t", count: 32)
    private let key = Data(repeating: 7, count: 32).base64EncodedString()

    private func mistakes(_ environment: [String: String]) -> [String] {
        do throws(ConfigurationError) {
            _ = try Settings(environment: environment, for: .database)
            return []
        } catch {
            return error.mistakes
        }
    }

    @Test func `without variables everything has its documented default`() throws {
        let settings = try Settings(environment: ["PATH": "/bin"], for: .database)
        #expect(settings.listen == ListenAddress(host: "127.0.0.1", port: 8080))
        #expect(settings.managementListen == ListenAddress(host: "127.0.0.1", port: 9090))
        #expect(settings.dataDirectory == ".carillon")
        #expect(settings.logLevel == .info)
        #expect(settings.logFormat == .text)
        #expect(settings.egressAllow.isEmpty)
        #expect(settings.operatorToken == nil && settings.masterKey == nil)
        guard case .embedded = settings.database else {
            Issue.record("expected an embedded cluster")
            return
        }
    }

    /// APNs is spoken to over HTTP/2 alone; tests of the whole program have roots of their own in such a file.
    @Test func `push services are offered HTTP/2 and TLS 1.2, with and without further roots`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "carillon-\(UUID()).pem")
        defer { try? FileManager.default.removeItem(at: file) }
        try Self.root.write(to: file, atomically: true, encoding: .utf8)
        for environment in [[:], ["CARILLON_EXTRA_CA_FILE": file.path]] {
            let tls = try Settings(environment: environment, for: .database).outboundTLS
            #expect(tls.applicationProtocols == ["h2", "http/1.1"])
            #expect(tls.minimumTLSVersion == .tlsv12)
            #expect(tls.certificateVerification == .fullVerification)
            #expect(tls.additionalTrustRoots.count == environment.count)
        }
    }

    @Test(
        arguments: [
            ("CARILLON_LISTEN", "8080"), ("CARILLON_LISTEN", "127.0.0.1:65536"), ("CARILLON_LISTEN", ""),
            ("CARILLON_PREPARED_STATEMENTS", "no"), ("CARILLON_ANNOUNCEMENTS_URL", "mysql://db/carillon"),
            ("CARILLON_ANNOUNCEMENTS_URL", "postgres://db/carillon"),
            ("CARILLON_MANAGEMENT_LISTEN", "::1:9090"), ("CARILLON_DATABASE_URL", "mysql://db/carillon"),
            ("CARILLON_DATA_DIR", ""), ("CARILLON_OPERATOR_TOKEN", "short"), ("CARILLON_MASTER_KEY", "c2hvcnQ="),
            ("CARILLON_LOG_LEVEL", "loud"), ("CARILLON_LOG_FORMAT", "xml"), ("CARILLON_EGRESS_ALLOW", "10.0.0.0"),
            ("CARILLON_EGRESS_ALLOW", "10.0.0.0/8,"), ("CARILLON_EXTRA_CA_FILE", "/nowhere.pem"),
            ("CARILLON_APNS_PRODUCTION_URL", "api.push.apple.com"), ("CARILLON_FCM_URL", "ftp://fcm.example"),
            ("CARILLON_CONFIG_FILE", "/nowhere.json"), ("CARILLON_TRUSTED_PROXIES", "10.0.0.1"),
            ("CARILLON_TRUSTED_PROXIES", "10.0.0.0/8,none"), ("CARILLON_CORS_ORIGINS", "chat.example"),
            ("CARILLON_CORS_ORIGINS", "https://chat.example/"), ("CARILLON_CORS_ORIGINS", "https://Chat.example"),
            ("CARILLON_CORS_ORIGINS", "https://chat.example:443"), ("CARILLON_CORS_ORIGINS", "https://a.example,"),
            ("CARILLON_CORS_ORIGINS", "https://a.example,*"), ("CARILLON_CORS_ORIGINS", "null"),
        ]
    )
    func `a bad value is one line that begins with the variable's name`(name: String, value: String) {
        let mistakes = mistakes([name: value])
        #expect(mistakes.count == 1)
        #expect(mistakes.first?.hasPrefix("\(name) ") == true)
        #expect(mistakes.allSatisfy { !$0.contains("\n") })
    }

    @Test func `an unknown variable is refused, and the one that was meant is named`() {
        #expect(mistakes(["CARILLON_LISTN": "x"]) == ["CARILLON_LISTN is unknown; did you mean CARILLON_LISTEN?"])
        #expect(
            mistakes(["CARILLON_X": "x"]).first?.hasPrefix("CARILLON_X is unknown; known are CARILLON_LISTEN,") == true
        )
        #expect(mistakes(["OTHER": "x"]).isEmpty)
    }

    @Test func `all mistakes are told at once`() {
        let mistakes = mistakes(["CARILLON_LISTEN": "x", "CARILLON_LOG_LEVEL": "x", "CARILLON_TYPO": "x"])
        #expect(mistakes.count == 3)
    }

    @Test(
        arguments: [
            ("CARILLON_OPERATOR_TOKEN", "secret-but-short"), ("CARILLON_OPERATOR_TOKEN_PREVIOUS", "secret-but-short"),
            ("CARILLON_MASTER_KEY", "secret-and-no-base64"),
            ("CARILLON_DATABASE_URL", "postgres://u:secret@h:1/d?unknown=secret"),
            ("CARILLON_ANNOUNCEMENTS_URL", "postgres://u:secret@h:1/d?unknown=secret"),
            ("CARILLON_FCM_URL", "https://u:secret@h/path"), ("CARILLON_FCM_URL", "https://u:a/secret@h/x"),
            ("CARILLON_CORS_ORIGINS", "https://u:secret@h"),
        ]
    )
    func `a secret is not part of the message`(name: String, value: String) {
        let mistakes = mistakes([name: value])
        #expect(mistakes.count == 1)
        #expect(mistakes.allSatisfy { !$0.contains("secret") })
    }

    @Test func `with a server's URL both secrets are required`() throws {
        let environment = ["CARILLON_DATABASE_URL": "postgres://db/carillon"]
        let error = try #require(throws: ConfigurationError.self) { try Settings(environment: environment) }
        #expect(error.mistakes.contains { $0.hasPrefix("CARILLON_OPERATOR_TOKEN is required") })
        #expect(error.mistakes.contains { $0.hasPrefix("CARILLON_MASTER_KEY is required") })
        #expect(throws: Never.self) { try Settings(environment: environment, for: .database) }
    }

    @Test func `statements are prepared unless a pooler loses them, and announcements may go past it`() throws {
        #expect(try Settings(environment: [:], for: .database).preparesStatements)
        var environment = [
            "CARILLON_DATABASE_URL": "postgres://pooler/carillon", "CARILLON_PREPARED_STATEMENTS": "off",
        ]
        let settings = try Settings(environment: environment, for: .database)
        #expect(!settings.preparesStatements && settings.announcements == nil)
        environment["CARILLON_ANNOUNCEMENTS_URL"] = "postgres://db/carillon"
        let announcements = try Settings(environment: environment, for: .database).announcements
        #expect("\(try #require(announcements))" == "host=db dbname=carillon")
    }

    @Test func `a wrong secret is not reported as missing too`() throws {
        let environment = ["CARILLON_DATABASE_URL": "postgres://db/carillon", "CARILLON_MASTER_KEY": "x"]
        let error = try #require(throws: ConfigurationError.self) { try Settings(environment: environment) }
        #expect(error.mistakes.count { $0.hasPrefix("CARILLON_MASTER_KEY") } == 1)
    }

    @Test func `the two ports must differ unless the system chooses them`() {
        let same = ["CARILLON_LISTEN": "127.0.0.1:8080", "CARILLON_MANAGEMENT_LISTEN": "127.0.0.1:8080"]
        #expect(mistakes(same).count == 1)
        let chosen = ["CARILLON_LISTEN": "127.0.0.1:0", "CARILLON_MANAGEMENT_LISTEN": "127.0.0.1:0"]
        #expect(mistakes(chosen).isEmpty)
    }

    @Test func `proxies are trusted on this machine, in the blocks that are named, or not at all`() throws {
        func proxies(_ text: String?) throws -> TrustedProxies {
            try Settings(environment: text.map { ["CARILLON_TRUSTED_PROXIES": $0] } ?? [:], for: .database)
                .trustedProxies
        }
        #expect(try proxies(nil) == .loopback)
        #expect(try proxies("10.0.0.0/8, ::1/128") == TrustedProxies([CIDRBlock("10.0.0.0/8"), CIDRBlock("::1/128")]))
        #expect(try proxies("none") == .none)
    }

    @Test func `pages may call from the origins that are named, from all, or not at all`() throws {
        func origins(_ text: String?) throws -> CORSOrigins {
            try Settings(environment: text.map { ["CARILLON_CORS_ORIGINS": $0] } ?? [:], for: .database).corsOrigins
        }
        #expect(try origins(nil) == .named([]))
        #expect(try origins("*") == .all)
        #expect(
            try origins("https://chat.example, http://localhost:5173,capacitor://localhost")
                == .named(["https://chat.example", "http://localhost:5173", "capacitor://localhost"])
        )
    }

    @Test func `a folder that does not exist is refused where it is needed`() throws {
        let environment = ["CARILLON_TEMPLATES_DIR": "/nowhere"]
        let error = try #require(throws: ConfigurationError.self) { try Settings(environment: environment) }
        #expect(error.mistakes.contains { $0.hasPrefix("CARILLON_TEMPLATES_DIR is \"/nowhere\"") })
    }

    @Test func `the console is on unless it is switched off, and then needs no folder`() throws {
        #expect(try Settings(environment: [:], for: .database).console != nil)
        #expect(try Settings(environment: ["CARILLON_CONSOLE": "off"], for: .database).console == nil)
        func consoleMistakes(_ environment: [String: String]) -> [String] {
            do throws(ConfigurationError) {
                _ = try Settings(environment: environment)
                return []
            } catch { return error.mistakes.filter { $0.contains("CARILLON_CONSOLE") } }
        }
        #expect(consoleMistakes(["CARILLON_CONSOLE": "no"]) == ["CARILLON_CONSOLE is \"no\", but must be on or off"])
        #expect(consoleMistakes(["CARILLON_CONSOLE_DIR": "/nowhere"]).count == 1)
        #expect(consoleMistakes(["CARILLON_CONSOLE": "off", "CARILLON_CONSOLE_DIR": "/nowhere"]).isEmpty)
    }

    @Test func `a file that comes with the program and is not there is told by its name and where it should be`() {
        var reader = SettingsReader(environment: [:])
        Resource("openapi.yaml").checkFile(into: &reader)
        #expect(reader.mistakes == [])
        Resource("no-such.yaml").checkFile(into: &reader)
        #expect(
            reader.mistakes
                == ["no-such.yaml must be a file that can be read, beside the program or in the working directory"]
        )
    }

    @Test func `secrets are not printed`() throws {
        let settings = try Settings(
            environment: ["CARILLON_OPERATOR_TOKEN": token, "CARILLON_MASTER_KEY": key],
            for: .database
        )
        var text = ""
        dump(settings, to: &text)
        #expect(!text.contains(token) && !text.contains(key))
        #expect(!"\(settings)".contains(token) && !"\(settings)".contains(key))
    }

    private static let root = """
        -----BEGIN CERTIFICATE-----
        MIIBdDCCARugAwIBAgIUSJsQ4c5AS7ULEi5XguWrXaffi9wwCgYIKoZIzj0EAwIw
        DzENMAsGA1UEAwwEUm9vdDAgFw0yNjExMzAxNTI5MTNaGA8yMTI2MTEwNjE1Mjkx
        M1owDzENMAsGA1UEAwwEUm9vdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABE+D
        8NG2uXW97hWLMIEzqXTLhCMK6erPsj8og+4r8nUx7Mk3FsfsirgfWy/poRWZ8YAN
        pYwAO3ViG8YOqwOxzJ6jUzBRMB0GA1UdDgQWBBTcM2DbSF+aWIPb7KOz63Qb2+Og
        /zAfBgNVHSMEGDAWgBTcM2DbSF+aWIPb7KOz63Qb2+Og/zAPBgNVHRMBAf8EBTAD
        AQH/MAoGCCqGSM49BAMCA0cAMEQCIBtujzgQX7a8JGZ1g0aaHu4dNFaMPxU8I5Mo
        3zTs0N0HAiACNgL+nj8oC+z+IuO5wPkFoNtYOZoq0GzHsVJ0x7ZxOg==
        -----END CERTIFICATE-----

        """
}
