import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

@Suite(.stores) struct MasterKeyTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }
    private static let old = [UInt8](repeating: 7, count: 32)
    private static let new = [UInt8](repeating: 8, count: 32)

    private func box(_ key: [UInt8], previous: [UInt8]? = nil) throws -> SecretBox {
        try #require(SecretBox(masterKey: key, previous: previous))
    }

    private func rollover(_ pool: PostgresPool, _ key: [UInt8], previous: [UInt8]? = nil) throws -> MasterKeyRollover {
        MasterKeyRollover(pool: pool, box: try box(key, previous: previous))
    }

    /// Stores one of everything that is sealed, with the old key: nine values.
    private func storeSecrets(_ scene: StoreScene) async throws {
        for _ in 0..<2 {
            try await scene.accounts.rotateWebhookSecret(of: scene.network, to: .generate(), overlap: .seconds(600))
        }
        _ = try await scene.accounts.outgoingWebhookSecrets(of: scene.network, candidate: .generate())
        try await scene.accounts.setUserTokenKeys(
            [
                StoredUserTokenKey(id: scene.ids.next(), key: .hs256(Secret("secret"))),
                StoredUserTokenKey(id: scene.ids.next(), key: .es256(publicKey: "P")),
            ],
            of: scene.network
        )
        let credential = ProviderCredential.sample(.fcm, "an/app", at: WallClock.system.now())
        _ = try await scene.credentials.putProviderCredential(credential, of: scene.network)
        try await scene.endpoints.addEndpoint(.sample("e/1"), to: scene.network)
        let key = FaceKey(
            face: .ably,
            networkID: scene.network,
            name: "app.a/key",
            rights: [],
            createdAt: WallClock.system.now()
        )
        _ = try await scene.faces.addFaceKey(
            StoredFaceKey(key: key, proof: .secret(Secret("signing"))),
            answering: nil
        )
        _ = try await scene.accounts.updateDialect(.amity, of: scene.network) { _ in
            DialectDocument(
                name: .amity,
                secrets: [.init(value: Secret("webhook"), setAt: WallClock.system.now())],
                updatedAt: WallClock.system.now()
            )
        }
        _ = try await scene.sources.putSource(
            "s/1",
            SourceSettings(url: "https://example.org", interval: 60),
            secret: .generate(),
            of: scene.network
        )
        let token = ProviderToken(value: "t", issuedAt: WallClock.system.now())
        _ = try await scene.tokens.providerToken("k", candidate: token, ifOlderThan: token.issuedAt)
    }

    @Test func `the first key of an empty database is the right one, and every other one is wrong`() async throws {
        let verdict = try await rollover(pool, Self.old).verdict()
        #expect(verdict == .unused)
        #expect(try await rollover(pool, Self.old).takeOver() == .current)
        #expect(try await rollover(pool, Self.new).takeOver() == .wrong)
        #expect(try await rollover(pool, Self.old).verdict() == .current)
    }

    @Test func `a database of a former release is judged by what is sealed in it`() async throws {
        try await storeSecrets(scene)
        #expect(try await rollover(pool, Self.new).takeOver() == .wrong)
        #expect(try await rollover(pool, Self.old).takeOver() == .current)
        #expect(try await rollover(pool, Self.new).verdict() == .wrong)
    }

    @Test func `with a wrong key what is hashed is read, and what is sealed is told to be unreadable`() async throws {
        try await storeSecrets(scene)
        let stranger = PostgresAccountStore(pool: pool, box: try box(Self.new), ids: scene.ids)
        let read = try #require(try await stranger.credentials(of: scene.network))
        #expect(read.webhookSecrets.isEmpty)
        #expect(read.hasUnreadableWebhookSecrets)
        #expect(read.hasUnreadableUserTokenKeys)
        #expect(read.userTokenKeys == [.es256(publicKey: "P")])
        let own = try #require(try await scene.accounts.credentials(of: scene.network))
        #expect(!own.hasUnreadableWebhookSecrets && !own.hasUnreadableUserTokenKeys)
    }

    @Test func `a rotation leaves everything readable, first with both keys and then with the new one`() async throws {
        try await storeSecrets(scene)
        #expect(try await rollover(pool, Self.old).takeOver() == .current)
        let before = try #require(try await scene.accounts.credentials(of: scene.network))
        let outgoing = try await scene.accounts.outgoingWebhookSecrets(of: scene.network, candidate: .generate())
        let rotating = try rollover(pool, Self.new, previous: Self.old)
        #expect(try await rotating.verdict() == .previous)
        #expect(try await rotating.remaining().previous == 10)
        #expect(try await rotating.takeOver() == .current)
        #expect(try await rotating.sealAnew() == 10)
        let remaining = try await rotating.remaining()
        #expect(remaining.previous == 0)
        #expect(remaining.unreadable == 0)
        #expect(try await rotating.sealAnew() == 0)

        #expect(try await rollover(pool, Self.new).verdict() == .current)
        #expect(try await rollover(pool, Self.old).verdict() == .wrong)
        let accounts = PostgresAccountStore(pool: pool, box: try box(Self.new), ids: scene.ids)
        let after = try #require(try await accounts.credentials(of: scene.network))
        #expect(after.webhookSecrets == before.webhookSecrets)
        #expect(after.userTokenKeys == before.userTokenKeys)
        let signing = try await accounts.outgoingWebhookSecrets(of: scene.network, candidate: .generate())
        #expect(signing == outgoing)
        let databases = Placed(PlacementDatabase(accounts))
        let credentials = PostgresProviderCredentialStore(databases)
        let credential = try await credentials.providerCredential(.fcm, appID: "an/app", of: scene.network)
        #expect(credential?.material == Secret("{}"))
        #expect(after.dialects.map(\.isUnreadable) == [false])
        #expect(after.dialects.first?.secrets.map(\.value) == [Secret("webhook")])
        let endpoints = PostgresEndpointStore(databases)
        #expect(try await endpoints.endpointSecrets(of: "e/1", in: scene.network).count == 1)
        let inbox = PostgresEventInbox(pool: pool)
        let sources = PostgresSourceQueue(inbox, box: try box(Self.new))
        #expect(try await sources.claimSources(limit: 1, share: 1, busy: [:]).first?.secret != nil)
        let faces = try await PostgresFaceList(pool: pool, box: try box(Self.new)).faceList(unless: nil)
        #expect(faces?.keys.map(\.proof) == [.secret(Secret("signing"))])
    }

    @Test func `replicas that are restarted one by one do not work against each other`() async throws {
        try await storeSecrets(scene)
        let waiting = try rollover(pool, Self.old, previous: Self.new)
        #expect(try await waiting.takeOver() == .current)
        #expect(try await rollover(pool, Self.new, previous: Self.old).takeOver() == .current)
        // It goes on with the old key as its current one, and sees that another one is the database's now.
        #expect(try await waiting.verdict() == .previous)
    }

    @Test func `what somebody stores meanwhile is not overwritten`() async throws {
        try await storeSecrets(scene)
        let header = try box(Self.old).currentHeader
        // The last one is of repeatable requests, of which there was none.
        for column in SealedColumn.all.dropLast() {
            let replaced = try await pool.withConnection { session in
                let values = try column.values(sealedWith: header, after: nil, session)
                let value = try #require(values.first)
                let first = try column.replace(value, by: [1, 2, 3], session)
                let second = try column.replace(value, by: [4, 5, 6], session)
                return [first, second]
            }
            #expect(replaced == [true, false])
        }
    }

    @Test func `more than a page is sealed anew, and what is damaged is passed over`() async throws {
        let old = try box(Self.old)
        let sealed = try old.seal([1], for: .incomingWebhook, in: scene.network)
        let damaged = old.currentHeader + [UInt8](repeating: 0, count: 40)
        let ids = (0..<250).map { _ in scene.ids.next() }
        let values = ids.indices.map { $0.isMultiple(of: 50) ? damaged : sealed }
        try await pool.execute(
            """
            INSERT INTO webhook_secrets (network_id, secret_id, direction, sealed)
            SELECT \(scene.network.rawValue), id, 'incoming', sealed
            FROM unnest(\(ids), \(values)) AS n (id, sealed)
            """
        )
        let rotating = try rollover(pool, Self.new, previous: Self.old)
        #expect(try await rotating.takeOver() == .current)
        #expect(try await rotating.sealAnew() == 245)
        #expect(try await rotating.remaining().previous == 5)
    }
}
