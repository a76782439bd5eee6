import CarillonSimulator
import CarillonTesting
import Crypto
import NIOCore
import Testing

@Suite(.bench) struct APNsAuthenticationTests {
    private let bench: Bench = lent()

    @Test func `refuses whoever shows no token`() async throws {
        let answer = try await bench.push(changing: ["authorization": nil])
        #expect(answer.status == 403)
        #expect(answer["reason"] == "MissingProviderToken")
    }

    @Test func `refuses tokens that are not of a registered key`() async throws {
        let key = bench.simulator.apnsKey
        let tokens = [
            "bearer x.y.z", "Basic abc", try Token.apns(key, issuer: "ANOTHERONE"),
            try Token.apns(key, keyID: "UNKNOWNKEY"), try Token.apns(key, algorithm: "HS256"),
            try Token.apns(key, signedBy: P256.Signing.PrivateKey()),
            try Token.apns(key, issuedAt: Token.now + 3600),
        ]
        for token in tokens {
            let answer = try await bench.push(authorization: token)
            #expect(answer.status == 403)
            #expect(answer["reason"] == "InvalidProviderToken", "\(token)")
        }
        #expect(bench.simulator.received.accepted == 0)
    }

    @Test func `refuses a token that is older than an hour`() async throws {
        let old = try Token.apns(bench.simulator.apnsKey, issuedAt: Token.now - 3601)
        let answer = try await bench.push(authorization: old)
        #expect(answer.status == 403)
        #expect(answer["reason"] == "ExpiredProviderToken")
    }

    @Test func `refuses a second token of a key within 20 minutes, and takes the first one still`() async throws {
        let key = bench.simulator.apnsKey
        let now = Token.now
        let first = try Token.apns(key, issuedAt: now - 1800)
        #expect(try await bench.push(authorization: first).status == 200)
        let hasty = try await bench.push(authorization: try Token.apns(key, issuedAt: now - 601))
        #expect(hasty.status == 429)
        #expect(hasty["reason"] == "TooManyProviderTokenUpdates")
        #expect(try await bench.push(authorization: first).status == 200)
        #expect(try await bench.push(authorization: try Token.apns(key)).status == 200)
    }

    @Test func `takes any number of tokens when their limit is off`() async throws {
        try await withBench({ $0.limitsTokenUpdates = false }) { bench in
            for age in 1...3 {
                let token = try Token.apns(bench.simulator.apnsKey, issuedAt: Token.now - age)
                #expect(try await bench.push(authorization: token).status == 200)
            }
        }
    }

    @Test func `binds a connection to the key that it saw first`() async throws {
        #expect(try await bench.push().status == 200)
        let other = bench.simulator.makeAPNsKey(teamID: "OTHERTEAM1")
        let answer = try await bench.push(authorization: try Token.apns(other))
        #expect(answer.status == 403)
        #expect(answer["reason"] == "UnrelatedKeyIdInToken")
    }

    @Test func `takes a certificate instead of a token, for its own app`() async throws {
        try await withBench(certificate: "com.example.chat") { bench in
            #expect(try await bench.push(changing: ["authorization": nil]).status == 200)
            #expect(try await bench.push(changing: ["authorization": nil, "apns-topic": nil]).status == 200)
            #expect(bench.simulator.received.notifications.last?.topic == "com.example.chat")
            let other = try await bench.push(changing: ["authorization": nil, "apns-topic": "com.example.other"])
            #expect(other["reason"] == "TopicDisallowed")
        }
    }

    @Test func `ends the handshake without a certificate where one is required`() async throws {
        try await withBench({ $0.clientCertificates = .required }) { bench async throws in
            await #expect(throws: (any Error).self) { try await bench.push(timeout: .seconds(1)) }
            #expect(bench.simulator.received.total == 0)
        }
        try await withBench(certificate: "com.example.chat") {
            $0.clientCertificates = .required
        } body: { bench async throws in
            #expect(try await bench.push(changing: ["authorization": nil]).status == 200)
        }
    }

    @Test func `speaks HTTP/2 only`() async throws {
        try await withBench(http1: true) { bench async throws in
            await #expect(throws: (any Error).self) { try await bench.push(timeout: .seconds(1)) }
        }
    }
}
