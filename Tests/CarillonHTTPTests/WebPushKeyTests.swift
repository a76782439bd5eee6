import CarillonCore
import CarillonProviders
import CarillonTesting
import Crypto
import HTTPTypes
import Testing

@Suite(.acme) struct WebPushKeyTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }
    private static let subject = #"{"subject":"mailto:ops@acme.example"}"#

    @Test func `the key pair is made on first use and survives until it is deleted`() async throws {
        let path = network.path("providers/webpush")
        let initial = try await network.call(.get, path)
        #expect(initial.status == 200 && initial["subject"] == .some(.null) && initial["appId"] == nil)
        let key = try #require(initial.string("publicKey"))
        let subjects = ["mailto:ops@acme.example", "https://acme.example/contact"]
        for subject in subjects {
            let put = try await network.call(.put, path, #"{"subject":"\#(subject)"}"#)
            #expect(put.status == 200 && put.string("subject") == subject && put.string("publicKey") == key)
        }
        #expect(try await network.call(.put, path, #"{"subject":"x"}"#).status == 400)
        #expect(try await network.call(.get, path).string("publicKey") == key)
        #expect(try await network.call(.delete, path).status == 204)
        let fresh = try await network.call(.put, path, Self.subject)
        #expect(fresh.status == 201 && fresh.string("publicKey") != key)
        #expect(api.dispatcher.told == Array(repeating: "changed acme/webpush/*", count: 4))
    }

    @Test func `of first uses at the same time all get the same key`() async throws {
        let path = network.path("providers/webpush")
        let keys = try await withThrowingTaskGroup(of: String?.self) { group in
            for index in 0..<16 {
                group.addTask {
                    let answer =
                        index.isMultiple(of: 2)
                        ? try await network.call(.put, path, Self.subject)
                        : try await network.call(.get, path)
                    return answer.string("publicKey")
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(keys.count == 1 && !keys.contains(nil))
    }

    @Test func `browsers learn the public key, and nothing else`() async throws {
        let other = try await api.makeNetwork("other")
        let path = network.path("providers/webpush/key")
        #expect(try await api.call(.get, path).status == 401)
        #expect(try await api.call(.get, path, as: other.token()).status == 404)
        #expect(try await api.call(.get, path, as: try await api.makeKey("events", in: network)).status == 403)
        let none = try await api.call(.get, path, as: network.token())
        #expect(none.status == 404 && none.string("detail")?.contains("PUT /providers/webpush") == true)
        #expect(try await api.store.credentials.providerCredentials(of: "acme").isEmpty)
        _ = try await network.call(.put, "providers/webpush", Self.subject)
        let key = try #require(try await api.call(.get, path, as: network.token()).string("publicKey"))
        let callers = [try await api.makeKey("device", in: network), network.adminKey, TestAPI.operatorToken]
        for caller in callers {
            #expect(try await api.call(.get, path, as: caller).text == #"{"publicKey":"\#(key)"}"#)
        }
        let shown = try await network.call(.get, "providers/webpush")
        #expect(shown.string("publicKey") == key)
    }

    @Test func `a key pair that cannot be read is not replaced, and the answer says what to do`() async throws {
        try await withAPI(credentials: { CredentialsInTrouble(store: $0.credentials, areReadable: false) }) { api in
            let network = try await api.makeNetwork()
            let path = network.path("providers/webpush")
            let created = try await network.call(.put, path, Self.subject)
            #expect(created.status == 201)
            let stored = try await api.store.credentials.providerCredentials(of: "acme")
            let refused = try await network.call(.put, path, #"{"subject":"mailto:x@acme.example"}"#)
            #expect(refused.status == 409 && refused.problem == "unreadable-credential" && refused["errors"] == nil)
            #expect(refused.string("detail")?.contains("CARILLON_MASTER_KEY") == true)
            #expect(try await network.call(.put, path, #"{"subject":"x"}"#).pointers == ["/subject"])
            #expect(try await api.store.credentials.providerCredentials(of: "acme") == stored)
            #expect(api.dispatcher.told.count == 1)
            #expect(try await network.call(.delete, path).status == 204)
            #expect(try await network.call(.put, path, Self.subject).status == 201)
        }
    }

    @Test func `a key pair that is brought along takes the place of one that nobody subscribed to`() async throws {
        let path = network.path("providers/webpush")
        let made = try await network.call(.put, path, Self.subject)
        func brought(_ key: P256.Signing.PrivateKey) async throws -> Answer {
            let text = Base64URL.encode(key.rawRepresentation)
            let body = #"{"subject":"mailto:ops@acme.example","privateKey":"\#(text)"}"#
            return try await network.call(.put, path, body)
        }
        let own = P256.Signing.PrivateKey()
        let taken = try await brought(own)
        #expect(taken.status == 200 && taken.string("publicKey") != made.string("publicKey"))
        #expect(taken.string("publicKey") == Base64URL.encode(own.publicKey.x963Representation))
        let id = NetworkID(trusted: "acme")
        // A pushkey that reaches nothing.
        let address = DeviceAddress.webpush(endpoint: "https://push.example/1", p256dh: "p", auth: "a")
        try await api.store.devices.addQuarantined([address], because: "unusable pushkey", in: id)
        #expect(try await brought(P256.Signing.PrivateKey()).status == 200)
        #expect(try await brought(own).status == 200)
        func isKept() async throws {
            let refused = try await brought(P256.Signing.PrivateKey())
            #expect(refused.status == 400 && refused.pointers == ["/privateKey"])
            #expect(refused.string("detail")?.contains("browsers have subscribed") == true)
            #expect(!refused.text.contains("MASTER_KEY"))
            #expect(try await brought(own).status == 200)
            let kept = try await network.call(.get, path)
            #expect(kept.string("publicKey") == taken.string("publicKey"))
        }
        // A browser that nobody registered: homeservers name such in what they send.
        let named = DeviceID(reachedAt: address)
        try await api.store.devices.renewDevices([named: TestAPI.now + .seconds(10 * 365 * 86_400)], in: id)
        #expect(try await api.store.devices.device(named, in: id)?.state == .active)
        try await isKept()
        #expect(try await api.store.devices.deleteDevice(named, ifOwnedBy: nil, in: id))
        #expect(try await brought(P256.Signing.PrivateKey()).status == 200)
        #expect(try await brought(own).status == 200)
        let browser = Device("browser", of: "bob", address, at: TestAPI.now)
        _ = try await api.store.devices.putDevice(browser, in: id)
        try await isKept()
    }

    @Test(arguments: ["", "null", #"{"subject":1}"#, #"{"privateKey":"AAAA"}"#])
    func `a key pair that is none is not replaced either`(material: String) async throws {
        let damaged = ProviderCredential(
            provider: .webpush,
            appID: "",
            identity: JSONObject(),
            material: Secret(material),
            updatedAt: TestAPI.now
        )
        let id = NetworkID(trusted: "acme")
        _ = try await api.store.credentials.putProviderCredential(damaged, of: id)
        let path = network.path("providers/webpush")
        let refused = try await network.call(.put, path, Self.subject)
        #expect(refused.status == 409 && refused.problem == "unreadable-credential" && refused["errors"] == nil)
        #expect(try await api.store.credentials.providerCredentials(of: id) == [damaged])
    }

    @Test func `a key pair is not put back that was replaced meanwhile`() async throws {
        let network = NetworkID(trusted: "acme")
        let format = CredentialFormat.webpush
        let first = try #require(format.initial(TestAPI.now))
        let second = try #require(format.initial(TestAPI.now))
        let inTrouble = { (stores: StoreScene) in
            CredentialsInTrouble(store: stores.credentials) { found in
                guard found == first else { return }
                _ = try await stores.credentials.deleteProviderCredential(.webpush, appID: "", of: network)
                _ = try await stores.credentials.addProviderCredential(second, of: network)
            }
        }
        try await withAPI(credentials: inTrouble) { api in
            let credentials = try await api.makeNetwork()
            _ = try await api.store.credentials.addProviderCredential(first, of: network)
            let path = credentials.path("providers/webpush")
            let put = try await credentials.call(.put, path, Self.subject)
            #expect(put.status == 200 && put["publicKey"] == second.identity["publicKey"])
            let kept = try await api.store.credentials.providerCredential(.webpush, appID: "", of: network)
            #expect(kept?.identity["publicKey"] == second.identity["publicKey"])
            #expect(kept?.identity["subject"] == "mailto:ops@acme.example")
        }
    }
}
