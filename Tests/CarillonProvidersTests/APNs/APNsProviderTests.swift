import CarillonCore
import Crypto
import NIOHPACK
import NIOHTTP2
import NIOSSL
import Synchronization
import Testing

@testable import CarillonProviders
@testable import PushHTTP
@testable import PushHTTPTests

@Suite(.timeLimit(.minutes(2))) struct APNsProviderTests {
    typealias Action = HTTP2Server.Action

    private static let app = "com.acme.chat"
    private let authority = TestAuthority()
    private let shared = TestTokens()
    private let key = P256.Signing.PrivateKey()

    private func provider(
        _ port: Int,
        timeout: Duration = .seconds(60),
        concurrency: Int = 200,
        credentials: RememberedCredentials<APNsCredential>.Read? = nil
    ) throws -> APNsProvider {
        var tls = TLSConfiguration.outbound()
        tls.additionalTrustRoots = [.certificates([try authority.certificate()])]
        var services = APNsProvider.Services()
        services.production = "https://127.0.0.1:\(port)/production"
        services.sandbox = "https://127.0.0.1:\(port)/sandbox"
        let credential = try shared.credential(key)
        return APNsProvider(
            connections: try APNsConnections(tls: tls),
            credentials: RememberedCredentials(read: credentials ?? { _, _ in credential }),
            tokens: shared.source(),
            services: services,
            clock: shared.clock,
            timeout: timeout,
            concurrency: concurrency
        )
    }

    private func server(
        _ respond: @escaping @Sendable (HTTP2Server.Request) -> [Action],
        _ body: (HTTP2Server, Int) async throws -> Void
    ) async throws {
        let tls = try authority.serverConfiguration(for: .address([127, 0, 0, 1]))
        try await HTTP2Server.answering(tls: tls, respond, during: body)
    }

    private func group(of count: Int = 1, environment: DeviceAddress.APNsEnvironment = .production) -> DeliveryGroup {
        .example(to: (0..<count).map { .apns(token: "00\($0)", appID: Self.app, environment: environment) })
    }

    private static func refuse(_ status: Int, _ reason: String) -> [Action] {
        [.answer(status, body: #"{"reason":"\#(reason)"}"#)]
    }

    @Test func `sends the headers and the payload of the contract`() async throws {
        try await server({ _ in [.answer(200, ["apns-id": "EC1BF194"])] }) { server, port in
            let group = group()
            let outcomes = try await provider(port).outcomes(of: group)
            #expect(outcomes == [.delivered(id: "EC1BF194")])
            let request = try #require(server.requests.first)
            let id = NotificationID(event: group.cause.eventID, device: group.targets[0].deviceID).description
            let token = try #require(shared.stored.values.first)
            let expected = [
                (":method", "POST"), (":scheme", "https"), (":authority", "127.0.0.1:\(port)"),
                (":path", "/production/3/device/000"), ("apns-topic", Self.app), ("apns-push-type", "alert"),
                ("apns-priority", "10"), ("apns-id", id), ("apns-collapse-id", id), ("apns-expiration", "1763719200"),
                ("authorization", "bearer " + token.value), ("content-length", "\(request.body.count)"),
            ]
            #expect(request.headers.map { "\($0.name): \($0.value)" } == expected.map { "\($0.0): \($0.1)" })
            #expect(request.body == APNsMessage(group).payload)
        }
    }

    @Test func `sends to each device's own environment, over one connection each`() async throws {
        try await server({ _ in [.ok] }) { server, port in
            var mixed = group(of: 2)
            mixed.targets[1].move(to: .apns(token: "001", appID: Self.app, environment: .sandbox))
            let outcomes = try await provider(port).outcomes(of: mixed)
            #expect(outcomes == [.delivered(id: nil), .delivered(id: nil)])
            #expect(Set(server.requests.map(\.path)) == ["/production/3/device/000", "/sandbox/3/device/001"])
        }
    }

    @Test func `sends a whole group over one connection with one token`() async throws {
        try await server({ _ in [.ok] }) { server, port in
            let outcomes = try await provider(port).outcomes(of: group(of: 500))
            #expect(outcomes.allSatisfy { $0 == .delivered(id: nil) })
            #expect(server.connectionCount == 1)
            #expect(shared.requests == 1)
            #expect(Set(server.requests.map { $0.headers.first(name: "authorization") }).count == 1)
        }
    }

    @Test(
        arguments: [
            (
                [Action.answer(410, body: #"{"reason":"Unregistered","timestamp":1700000000000}"#)],
                Outcome.unregister(at: Timestamp(milliseconds: 1_700_000_000_000), reason: "Unregistered")
            ),
            (refuse(400, "BadDeviceToken"), .quarantine(reason: "BadDeviceToken")),
            (
                [.answer(502, ["content-type": "text/html"], body: "<html>Bad Gateway</html>")],
                .retry(after: nil, reason: "http 502")
            ),
            ([.answer(200, body: "<html>fine</html>")], .delivered(id: nil)),
            ([.reset(.internalError)], .retry(after: nil, reason: "stream reset")),
            ([.close], .retry(after: nil, reason: "connection closed")),
            ([.reset(.refusedStream)], .retry(after: nil, reason: "stream refused", wasSent: false)),
            ([.endlessBody], .delivered(id: nil)),
            ([.manyHeaders(10_000)], .retry(after: nil, reason: "answer too long")),
        ] as [([Action], Outcome)]
    )
    func `turns each answer into an outcome`(actions: [Action], expected: Outcome) async throws {
        try await server({ _ in actions }) { _, port in
            let outcomes = try await provider(port, timeout: .seconds(60)).outcomes(of: group())
            #expect(outcomes == [expected])
        }
    }

    @Test func `gives up when there is no answer in time`() async throws {
        try await server({ _ in [] }) { _, port in
            let outcomes = try await provider(port, timeout: .milliseconds(300)).outcomes(of: group())
            // It may be over before a slow machine has sent anything.
            #expect([true, false].contains { outcomes == [.timedOut(reason: "timeout", wasSent: $0)] })
        }
    }

    // MARK: Tokens

    @Test func `renews an expired token once for all, and sends again at once`() async throws {
        let stale = try APNsSigningKey(teamID: "TEAM123456", keyID: "KEY1234567", pem: key.pemRepresentation)
        let expired = ProviderToken(value: "expired", issuedAt: shared.now - .seconds(30 * 60))
        shared.store(expired, under: stale.name)
        try await server { request in
            let isExpired = request.headers.first(name: "authorization") == "bearer expired"
            return isExpired ? Self.refuse(403, "ExpiredProviderToken") : [.ok]
        } _: { server, port in
            let outcomes = try await provider(port).outcomes(of: group(of: 300))
            #expect(outcomes.allSatisfy { $0 == .delivered(id: nil) })
            #expect(shared.requests == 2)
            #expect(shared.stored.values.map(\.issuedAt) == [shared.now])
        }
    }

    @Test func `heeds the answer to a renewed token as any other`() async throws {
        let stale = try APNsSigningKey(teamID: "TEAM123456", keyID: "KEY1234567", pem: key.pemRepresentation)
        shared.store(ProviderToken(value: "expired", issuedAt: shared.now - .seconds(30 * 60)), under: stale.name)
        try await server { request in
            let isExpired = request.headers.first(name: "authorization") == "bearer expired"
            guard !isExpired else { return Self.refuse(403, "ExpiredProviderToken") }
            return request.connection == 0 ? Self.refuse(503, "Shutdown") : [.ok]
        } _: { server, port in
            let provider = try provider(port)
            #expect(await provider.outcomes(of: group()) == [.retry(after: .seconds(900), reason: "Shutdown")])
            #expect(await provider.outcomes(of: group()) == [.delivered(id: nil)])
            #expect(server.connectionCount == 2)
        }
    }

    @Test func `does not go on renewing a token that is refused although it is new`() async throws {
        try await server({ _ in Self.refuse(403, "ExpiredProviderToken") }) { server, port in
            let expected = Outcome.misconfigured(reason: "403 ExpiredProviderToken")
            let outcomes = try await provider(port).outcomes(of: group())
            #expect(outcomes == [expected])
            #expect(shared.requests == 1)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `makes no token for a while when there were too many`() async throws {
        let name = try APNsSigningKey(teamID: "TEAM123456", keyID: "KEY1234567", pem: key.pemRepresentation).name
        shared.store(ProviderToken(value: "old", issuedAt: shared.now - .seconds(40 * 60)), under: name)
        try await server({ _ in Self.refuse(429, "TooManyProviderTokenUpdates") }) { _, port in
            let provider = try provider(port)
            let expected = Outcome.deferLane(after: .seconds(60), reason: "TooManyProviderTokenUpdates")
            #expect(await provider.outcomes(of: group()) == [expected])
            shared.pass(.seconds(10 * 60))
            #expect(await provider.outcomes(of: group()) == [expected])
            #expect(shared.requests == 1)
        }
    }

    @Test func `waits when no token can be had`() async throws {
        shared.fail(.timedOut)
        let expected = Outcome.deferLane(after: .seconds(5), reason: "provider token not available", isOurs: true)
        #expect(try await provider(1).outcomes(of: group(of: 2)) == [expected, expected])
    }

    // MARK: What concerns all of a lane

    @Test func `does not send on what cannot succeed`() async throws {
        try await server({ _ in Self.refuse(403, "InvalidProviderToken") }) { server, port in
            let outcomes = try await provider(port).outcomes(of: group(of: 500))
            #expect(outcomes.allSatisfy { $0 == .misconfigured(reason: "403 InvalidProviderToken") })
            // One at a time until one is accepted: far from all have been sent when the first answer arrives.
            #expect(server.requests.count < 100)
        }
    }

    @Test func `waits for the answers to what was on the wire already`() async throws {
        let arrived = Mutex(0)
        try await server { request in
            let number = arrived.withLock { arrived in
                arrived += 1
                return arrived
            }
            // The first one shows that the key is good, the eleventh that it is not any more.
            return number == 1 ? [.ok] : number == 11 ? Self.refuse(403, "InvalidProviderToken") : [.hold]
        } _: { server, port in
            let provider = try provider(port, concurrency: 10)
            #expect(await provider.outcomes(of: group()) == [.delivered(id: nil)])
            let reports = Mutex<[Outcome]>([])
            // The one that was refused, and the two whose turn had not come.
            let refused = Gate(openingAfter: 3)
            let group = group(of: 12)
            async let ended: Void = provider.send(group) { _, outcome in
                reports.withLock { $0.append(outcome) }
                refused.knock()
            }
            await refused.wait()
            server.answerHeld()
            await ended
            let expected = Array(repeating: Outcome.misconfigured(reason: "403 InvalidProviderToken"), count: 3)
            #expect(reports.withLock { $0 } == expected + Array(repeating: .delivered(id: nil), count: 9))
            #expect(server.requests.count == 11)
            #expect(server.resets == 0)
        }
    }

    @Test func `begins nothing more when it is to stop, and waits for what is on the wire`() async throws {
        try await server({ _ in [.hold] }) { server, port in
            let provider = try provider(port)
            let group = group(of: 3)
            let task = Task { await provider.outcomes(of: group) }
            await server.nextRequests(1)
            task.cancel()
            server.answerHeld()
            // Whichever device was the first.
            #expect(await task.value.compactMap { $0 } == [.delivered(id: nil)])
            #expect(server.requests.count == 1)
            #expect(server.resets == 0)
        }
    }

    // MARK: What concerns one environment

    @Test(arguments: ["BadEnvironmentKeyIdInToken", "BadCertificateEnvironment"])
    func `a key that is not for the sandbox goes on sending to production, over the same connection`(reason: String)
        async throws
    {
        try await server { request in
            request.path.hasPrefix("/sandbox") ? Self.refuse(403, reason) : [.ok]
        } _: { server, port in
            let provider = try provider(port, concurrency: 1)
            var mixed = group(of: 30)
            for index in 0..<20 {
                mixed.targets[index].move(to: .apns(token: "00\(index)", appID: Self.app, environment: .sandbox))
            }
            let wait = Outcome.retry(after: .seconds(900), reason: reason)
            let expected = Array(repeating: wait, count: 20) + Array(repeating: .delivered(id: nil), count: 10)
            #expect(await provider.outcomes(of: mixed) == expected)
            #expect(await provider.outcomes(of: group(environment: .sandbox)) == [wait])
            #expect(await provider.outcomes(of: group()) == [.delivered(id: nil)])
            // Both environments are one host here.
            #expect(server.connectionCount == 1)
        }
    }

    @Test func `opens a new connection after a key was refused`() async throws {
        try await server({ $0.connection == 0 ? Self.refuse(403, "UnrelatedKeyIdInToken") : [.ok] }) { server, port in
            let provider = try provider(port)
            #expect(await provider.outcomes(of: group()) == [.retry(after: nil, reason: "UnrelatedKeyIdInToken")])
            #expect(await provider.outcomes(of: group()) == [.delivered(id: nil)])
            #expect(server.connectionCount == 2)
        }
    }

    @Test func `an APNs that is unavailable costs a few devices an attempt, and the others none`() async throws {
        try await server({ _ in Self.refuse(503, "ServiceUnavailable") }) { server, port in
            let outcomes = try await provider(port, concurrency: 1).outcomes(of: group(of: 50))
            let wait = Outcome.retry(after: .seconds(900), reason: "ServiceUnavailable")
            let rest = Outcome.deferLane(after: .seconds(900), reason: "ServiceUnavailable")
            #expect(outcomes == Array(repeating: wait, count: 9) + Array(repeating: rest, count: 41))
            #expect(server.requests.count == 10)
        }
    }

    @Test func `opens a new connection when APNs shuts one down`() async throws {
        try await server({ $0.connection == 0 ? Self.refuse(503, "Shutdown") : [.ok] }) { server, port in
            let provider = try provider(port)
            #expect(await provider.outcomes(of: group()) == [.retry(after: .seconds(900), reason: "Shutdown")])
            #expect(await provider.outcomes(of: group()) == [.delivered(id: nil)])
            #expect(server.connectionCount == 2)
        }
    }

    @Test func `all credentials share one bound on the connections`() async throws {
        let connections = try APNsConnections(tls: TLSConfiguration.outbound())
        let first = try connections.transport(for: try shared.credential(key))
        let other: JSONValue = [
            "teamId": "TEAM123456", "keyId": "KEY1234567",
            "privateKey": .string(P256.Signing.PrivateKey().pemRepresentation),
        ]
        let second = try connections.transport(for: APNsCredential(reading: other, appID: Self.app, now: shared.now))
        #expect(first !== second)
        let client = try #require(first as? OutboundHTTPClient)
        #expect(client.connections === (second as? OutboundHTTPClient)?.connections)
    }

    @Test func `a late refusal does not cost the connections that are newer`() async throws {
        let made = Mutex<[RecordingTransport]>([])
        let connections = APNsConnections { _ in
            let transport = RecordingTransport { _ in .answer(200) }
            made.withLock { $0.append(transport) }
            return transport
        }
        let credential = try shared.credential(key)
        let first = try connections.transport(for: credential)
        connections.renew(for: credential, insteadOf: first)
        let second = try connections.transport(for: credential)
        connections.renew(for: credential, insteadOf: first)
        #expect(try connections.transport(for: credential) === second)
        #expect(made.withLock { $0.count } == 2)
    }

    @Test func `waits for a credential`() async throws {
        let missing = try provider(1) { _, _ in nil }
        var lane = group(of: 2)
        lane.lane.appID = Self.app
        let expected = Outcome.deferLane(after: nil, reason: "no credential for com.acme.chat")
        #expect(await missing.outcomes(of: lane) == [expected, expected])

        let unreadable = try provider(1) { _, _ in throw OutboundError.timedOut }
        #expect(
            await unreadable.outcomes(of: group()) == [
                .deferLane(after: .seconds(5), reason: "credential not readable", isOurs: true)
            ]
        )
    }

    @Test func `refuses a device of another service`() async throws {
        try await server({ _ in [.ok] }) { server, port in
            let group = DeliveryGroup.example(to: [.webhook(url: "https://127.0.0.1/")])
            let outcomes = try await provider(port).outcomes(of: group)
            #expect(outcomes == [.unsendable(reason: "not an APNs device", isOfDevice: true)])
            #expect(server.requests.isEmpty)
        }
    }

    // MARK: Certificates

    @Test(arguments: [false, true]) func `shows its certificate, from PEM and from PKCS#12`(isFile: Bool) async throws {
        let made = try TestAPNsCertificate(topics: [Self.app])
        let document: JSONValue =
            isFile
            ? ["pkcs12": .string(try made.pkcs12(passphrase: "x")), "passphrase": "x"]
            : ["certificate": .string(try made.pem), "privateKey": .string(try made.keyPEM)]
        let credential = try APNsCredential(reading: document, appID: Self.app, now: shared.now)
        var tls = try authority.serverConfiguration(for: .address([127, 0, 0, 1]))
        tls.certificateVerification = .noHostnameVerification
        tls.trustRoots = .certificates([try made.trusted])
        try await HTTP2Server.answering(tls: tls, { _ in [.ok] }) { server, port in
            let outcomes = try await provider(port) { _, _ in credential }.outcomes(of: group(of: 20))
            #expect(outcomes.allSatisfy { $0 == .delivered(id: nil) })
            #expect(server.connectionCount == 1)
            #expect(server.requests.allSatisfy { !$0.headers.contains(name: "authorization") })
            #expect(shared.requests == 0)

            let stranger = try await provider(port).outcomes(of: group())
            #expect(stranger == [.retry(after: nil, reason: "tls failed", wasSent: false)])
        }
    }

    @Test(arguments: [
        (TestAuthority.Subject.address([127, 0, 0, 2]), TestAuthority.Validity.current),
        (.name("api.push.apple.com"), .current), (.address([127, 0, 0, 1]), .expired),
    ])
    func `does not speak to a server that is another or whose certificate has expired`(
        subject: TestAuthority.Subject,
        validity: TestAuthority.Validity
    ) async throws {
        let tls = try authority.serverConfiguration(for: subject, validity: validity)
        try await HTTP2Server.answering(tls: tls, { _ in [.ok] }) { server, port in
            let outcomes = try await provider(port).outcomes(of: group())
            #expect(outcomes == [.retry(after: nil, reason: "tls failed", wasSent: false)])
            #expect(server.requests.isEmpty)
        }
    }
}
