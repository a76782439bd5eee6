import CarillonCore
import CarillonEdge
import CarillonTesting
import HTTPTypes
import Synchronization
import Testing

/// Tokens that are none of Carillon's, where a network has said whom to ask about them (API section 2, FACES section F1).
@Suite(.acme) struct IntrospectionTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }
    private static let path = "user-token-introspection"
    private static let own = "/v1/networks/acme/users/me/notifications"
    private static let settings = #"{"url":"https://chat.acme.example/me","userIdPointer":"/userId"}"#

    /// Knows tokens by heart.
    private final class Backend: UserTokenAsker {
        private let asked = Mutex<[String]>([])

        var tokens: [String] { asked.withLock(\.self) }

        func ask(
            _ introspection: UserTokenIntrospection,
            about token: Secret,
            in network: NetworkID
        ) async -> UserTokenAnswer {
            let text = token.reveal(\.self)
            asked.withLock { $0.append(text) }
            switch text {
            case "alice's": return .user(UserID(trusted: "alice"))
            case "broken": return .failed(reason: "timeout")
            default: return .nobody
            }
        }
    }

    @Test(arguments: [
        ("{}", "/url"), (#"{"url":"https://a.example/"}"#, "/userIdPointer"),
        (#"{"url":"http://8.8.8.8/","userIdPointer":"/id"}"#, "/url"),
        (#"{"url":"ftp://a.example/","userIdPointer":"/id"}"#, "/url"),
        (#"{"url":"https://10.0.0.1/","userIdPointer":"/id"}"#, "/url"),
        (#"{"url":"https://169.254.169.254/latest","userIdPointer":"/id"}"#, "/url"),
        (#"{"url":"https://a.example/#x","userIdPointer":"/id"}"#, "/url"),
        (#"{"url":"https://a.example/","userIdPointer":"id"}"#, "/userIdPointer"),
        (#"{"url":"https://a.example/","userIdPointer":""}"#, "/userIdPointer"),
        (#"{"url":"https://a.example/","userIdPointer":"/~2"}"#, "/userIdPointer"),
        (#"{"url":"https://a.example/","userIdPointer":"/id","cacheSeconds":-1}"#, "/cacheSeconds"),
        (#"{"url":"https://a.example/","userIdPointer":"/id","cacheSeconds":3601}"#, "/cacheSeconds"),
        (#"{"url":"https://a.example/","userIdPointer":"/id","method":"POST"}"#, "/method"),
    ])
    func `settings that lead nowhere, or where tokens must not go, are refused`(body: String, pointer: String)
        async throws
    {
        let answer = try await network.call(.put, Self.path, body)
        #expect(answer.status == 400 && answer.pointers.contains(pointer))
        #expect(try await network.call(.get, Self.path).status == 404)
    }

    @Test func `they are for admins, and are shown as they hold until they are removed`() async throws {
        let (path, appKey) = (network.path(Self.path), try await api.makeKey("device", in: network))
        for token in [nil, appKey, network.token()] {
            #expect(try await api.call(.put, path, Self.settings, as: token).status == (token == nil ? 401 : 403))
        }
        let put = try await network.call(.put, path, Self.settings)
        let expected: JSONValue = [
            "url": "https://chat.acme.example/me", "userIdPointer": "/userId", "cacheSeconds": 300,
        ]
        #expect(put.status == 200 && put.json == expected)
        #expect(try await network.call(.get, path).json == expected)
        #expect(try await network.call(.delete, path).status == 204)
        #expect(try await network.call(.get, path).status == 404)
    }

    @Test func `a foreign token is its user's, in the network that asks and nowhere else`() async throws {
        let backend = Backend()
        try await withAPI(asker: backend) { api in
            let network = try await api.makeNetwork()
            _ = try await api.makeNetwork("other")
            #expect(try await api.call(.get, Self.own, as: "alice's").status == 401)
            #expect(backend.tokens.isEmpty)
            _ = try await network.call(.put, Self.path, Self.settings)
            #expect(try await api.call(.get, Self.own, as: "alice's").status == 200)
            #expect(try await api.call(.get, Self.own, as: "mallory's").status == 401)
            #expect(try await api.call(.get, Self.own, as: "broken").status == 503)
            let others = "/v1/networks/acme/users/bob/notifications"
            #expect(try await api.call(.get, others, as: "alice's").status == 403)
            let asked = backend.tokens.count
            #expect(try await network.call(.get, "templates", as: "alice's").status == 401)
            for path in ["events", "notifications", "events/amity"] {
                #expect(try await network.call(.post, path, "{}", as: "alice's").status != 403)
            }
            #expect(backend.tokens.count == asked, "what routes of admins and backends are sent is never passed on")
            let elsewhere = Self.own.replacing("acme", with: "other")
            #expect(try await api.call(.get, elsewhere, as: "alice's").status == 401)
            let before = backend.tokens.count
            #expect(try await api.call(.get, Self.own, as: network.token()).status == 200)
            #expect(try await api.call(.get, Self.own, as: Tokens.hs256(Tokens.claims(), secret: "x")).status == 401)
            #expect(try await api.call(.get, Self.own, as: network.adminKey + "x").status == 401)
            #expect(backend.tokens.count == before, "what is Carillon's own is never passed on")
            _ = try await network.call(.delete, Self.path)
            #expect(try await api.call(.get, Self.own, as: "alice's").status == 401)
        }
    }
}
