import CarillonCore
import Foundation
import NIOSSL
import Testing

@testable import PushHTTP

@Suite(.timeLimit(.minutes(1))) struct OutboundTLSTests {
    private let authority = TestAuthority()

    private func connect(
        to host: String,
        tls: TLSConfiguration,
        trusting authority: TestAuthority?
    ) async throws -> [Int] {
        var statuses: [Int] = []
        try await ScriptedServer.answering(tls: tls, { _ in .ok }) { _, port in
            let client = try OutboundHTTPClient.test(trusting: authority) { _ in [.v4(0x7F00_0001)] }
            statuses.append(try await client.post(to: "https://\(host):\(port)/").status)
        }
        return statuses
    }

    @Test func `refuses a certificate of an authority that it does not know`() async throws {
        let tls = try authority.serverConfiguration(for: .name("hook.test"))
        await #expect(throws: OutboundError.tlsFailed) { try await connect(to: "hook.test", tls: tls, trusting: nil) }
        await #expect(throws: OutboundError.tlsFailed) {
            try await connect(to: "hook.test", tls: tls, trusting: TestAuthority())
        }
    }

    @Test func `refuses a certificate for another name`() async throws {
        let tls = try authority.serverConfiguration(for: .name("other.test"))
        await #expect(throws: OutboundError.tlsFailed) {
            try await connect(to: "hook.test", tls: tls, trusting: authority)
        }
    }

    @Test func `refuses a certificate for a name where the URL has the address`() async throws {
        let tls = try authority.serverConfiguration(for: .name("hook.test"))
        await #expect(throws: OutboundError.tlsFailed) {
            try await connect(to: "127.0.0.1", tls: tls, trusting: authority)
        }
    }

    @Test func `refuses an expired certificate`() async throws {
        let tls = try authority.serverConfiguration(for: .name("hook.test"), validity: .expired)
        await #expect(throws: OutboundError.tlsFailed) {
            try await connect(to: "hook.test", tls: tls, trusting: authority)
        }
    }

    @Test func `refuses a version before 1.2`() async throws {
        var tls = try authority.serverConfiguration(for: .name("hook.test"))
        tls.minimumTLSVersion = .tlsv1
        tls.maximumTLSVersion = .tlsv11
        await #expect(throws: OutboundError.tlsFailed) {
            try await connect(to: "hook.test", tls: tls, trusting: authority)
        }
    }

    @Test func `refuses a server that does not speak TLS`() async throws {
        try await ScriptedServer.answering({ _ in .ok }) { server, port in
            let client = try OutboundHTTPClient.test(trusting: authority)
            await #expect(throws: OutboundError.self) { try await client.post(to: "https://127.0.0.1:\(port)/") }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `takes a certificate for the name, although the connection goes to an address`() async throws {
        let tls = try authority.serverConfiguration(for: .name("hook.test"))
        #expect(try await connect(to: "hook.test", tls: tls, trusting: authority) == [200])
    }

    @Test func `takes a certificate for the address`() async throws {
        let tls = try authority.serverConfiguration(for: .address([127, 0, 0, 1]))
        #expect(try await connect(to: "127.0.0.1", tls: tls, trusting: authority) == [200])
    }

    @Test func `trusts the roots of a file besides the system's`() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "carillon-\(UUID()).pem")
        defer { try? FileManager.default.removeItem(at: url) }
        let der = Data(try authority.certificate().toDERBytes()).base64EncodedString(options: .lineLength64Characters)
        let pem = "-----BEGIN CERTIFICATE-----\n\(der)\n-----END CERTIFICATE-----\n"
        try (pem + pem).write(to: url, atomically: true, encoding: .utf8)
        let roots = try TLSConfiguration.outbound(extraRoots: url.path).additionalTrustRoots
        let certificate = try authority.certificate()
        #expect(roots.count == 1)
        guard case .certificates(let certificates) = roots.first else { return }
        #expect(certificates.count == 2)
        #expect(
            certificates.map { try? $0.extractPublicKey().toSPKIBytes() }.allSatisfy {
                $0 == (try? certificate.extractPublicKey().toSPKIBytes())
            }
        )
    }

    @Test(arguments: ["", "not a certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    func `refuses a file without a certificate`(text: String) throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "carillon-\(UUID()).pem")
        defer { try? FileManager.default.removeItem(at: url) }
        try text.write(to: url, atomically: true, encoding: .utf8)
        #expect(throws: ExtraRootsError(path: url.path)) { try TLSConfiguration.outbound(extraRoots: url.path) }
        #expect(throws: ExtraRootsError(path: "/nowhere.pem")) {
            try TLSConfiguration.outbound(extraRoots: "/nowhere.pem")
        }
    }
}
