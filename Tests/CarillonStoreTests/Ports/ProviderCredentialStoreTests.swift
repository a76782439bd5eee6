import CarillonCore
import CarillonTesting
import Testing

/// What ``ProviderCredentialStore`` promises.
@Suite(.stores) struct ProviderCredentialStoreTests {
    let scene = StoreScene.here

    private func credential(
        _ name: String,
        _ provider: ProviderName = .apns,
        app: String = "com.acme.chat"
    ) -> ProviderCredential {
        var identity = JSONObject()
        identity["keyId"] = .string(name)
        return ProviderCredential(
            provider: provider,
            appID: app,
            identity: identity,
            material: Secret("material of \(name)"),
            updatedAt: .seconds(1)
        )
    }

    @Test func `a credential is read back until it is replaced or removed`() async throws {
        let (store, network) = (scene.credentials, scene.network)
        #expect(try await store.providerCredential(.apns, appID: "com.acme.chat", of: network) == nil)
        #expect(try await store.putProviderCredential(credential("first"), of: network) == .added)
        #expect(try await store.putProviderCredential(credential("second"), of: network) == .replaced)
        let found = try await store.providerCredential(.apns, appID: "com.acme.chat", of: network)
        #expect(found == credential("second"))
        #expect(try await store.deleteProviderCredential(.apns, appID: "com.acme.chat", of: network))
        #expect(try await store.deleteProviderCredential(.apns, appID: "com.acme.chat", of: network) == false)
        #expect(try await store.providerCredentials(of: network).isEmpty)
    }

    @Test func `the same credential once more is not stored again`() async throws {
        let (store, network) = (scene.credentials, scene.network)
        #expect(try await store.putProviderCredential(credential("one"), of: network) == .added)
        var again = credential("one")
        again.updatedAt = .seconds(2)
        #expect(try await store.putProviderCredential(again, of: network) == .unchanged(credential("one")))
        #expect(try await store.providerCredentials(of: network) == [credential("one")])
        again.material = Secret("other material")
        #expect(try await store.putProviderCredential(again, of: network) == .replaced)
        again.identity["keyId"] = "other"
        #expect(try await store.putProviderCredential(again, of: network) == .replaced)
        #expect(try await store.providerCredentials(of: network) == [again])
    }

    @Test func `a credential is replaced only while it is there`() async throws {
        let (store, network) = (scene.credentials, scene.network)
        let (first, second, third) = (credential("first"), credential("second"), credential("third"))
        #expect(try await store.replaceProviderCredential(first, by: second, of: network) == false)
        #expect(try await store.providerCredentials(of: network).isEmpty)
        _ = try await store.putProviderCredential(first, of: network)
        #expect(try await store.replaceProviderCredential(second, by: third, of: network) == false)
        #expect(try await store.replaceProviderCredential(first, by: second, of: scene.otherNetwork) == false)
        #expect(try await store.replaceProviderCredential(first, by: second, of: network))
        #expect(try await store.replaceProviderCredential(first, by: third, of: network) == false)
        #expect(try await store.providerCredentials(of: network) == [second])
    }

    @Test func `a credential is added only where there is none`() async throws {
        let answers = try await inParallel(8) { number in
            try await scene.credentials.addProviderCredential(credential("\(number)"), of: scene.network)
        }
        #expect(answers.allSatisfy { $0 == answers[0] })
        let found = try await scene.credentials.providerCredential(.apns, appID: "com.acme.chat", of: scene.network)
        #expect(found == answers[0])
    }

    @Test func `credentials belong to a network, a provider and an app`() async throws {
        let credentials = [
            credential("a"), credential("b", app: "com.acme.other"), credential("c", .fcm),
            credential("d", .webpush, app: ""),
        ]
        for credential in credentials.reversed() {
            #expect(try await scene.credentials.putProviderCredential(credential, of: scene.network) == .added)
        }
        #expect(try await scene.credentials.providerCredentials(of: scene.network) == credentials)
        let places = try await scene.credentials.providersWithCredentials(of: scene.network)
        #expect(places.map(\.provider) == credentials.map(\.provider))
        #expect(places.map(\.appID) == credentials.map(\.appID))
        #expect(try await scene.credentials.providersWithCredentials(of: scene.otherNetwork).isEmpty)
        #expect(try await scene.credentials.providerCredentials(of: scene.otherNetwork).isEmpty)
        #expect(try await scene.accounts.deleteNetwork(scene.network))
        #expect(try await scene.accounts.createNetwork(.sample(scene.network, name: "Again")))
        #expect(try await scene.credentials.providerCredentials(of: scene.network).isEmpty)
    }

    @Test func `a token is kept until it is too old`() async throws {
        let old = ProviderToken(value: "old", issuedAt: .seconds(1_000))
        let new = ProviderToken(value: "new", issuedAt: .seconds(4_000))
        let store = scene.tokens
        #expect(try await store.providerToken("key", candidate: old, ifOlderThan: .seconds(0)) == old)
        #expect(try await store.providerToken("key", candidate: new, ifOlderThan: .seconds(1_000)) == old)
        #expect(try await store.providerToken("key", candidate: new, ifOlderThan: .seconds(1_001)) == new)
        #expect(try await store.providerToken("other", candidate: old, ifOlderThan: .seconds(0)) == old)
        // A clock that was wrong has made it.
        let right = ProviderToken(value: "right", issuedAt: .seconds(3_940))
        #expect(try await store.providerToken("key", candidate: right, ifOlderThan: .seconds(1_000)) == new)
        let earlier = ProviderToken(value: "earlier", issuedAt: .seconds(3_939))
        #expect(try await store.providerToken("key", candidate: earlier, ifOlderThan: .seconds(1_000)) == earlier)
    }

    @Test func `of several who make a token at once all get the same`() async throws {
        let answers = try await inParallel(8) { number in
            let candidate = ProviderToken(value: "\(number)", issuedAt: .seconds(5_000))
            return try await scene.tokens.providerToken("key", candidate: candidate, ifOlderThan: .seconds(4_000))
        }
        #expect(answers.allSatisfy { $0 == answers[0] })
    }
}
