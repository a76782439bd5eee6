import CarillonCore
import CarillonEdge
import CarillonTesting
import HTTPTypes
import Testing

@Suite(.acme { try await withAPI(faces: { [MirrorFace(services: $0)] }, $0) }) struct FaceTests {
    private let acme: Credentials = lent()
    private var api: TestAPI { acme.api }
    private static let binding = #"{"text":"hi"}"#

    @Test func `what is no binding is refused with its place`() async throws {
        for (body, pointers) in [
            (#"{}"#, ["/text"]), (#"{"text":1}"#, ["/text"]), (#"{"text":"hi","more":1}"#, ["/more"]),
            (#"[]"#, [""]), (#"{"text":"\#(String(repeating: "x", count: 9_000))"}"#, [""]),
        ] {
            let answer = try await acme.call(.put, "faces/matrix/a", body, as: TestAPI.operatorToken)
            #expect(answer.refusal == "400 invalid-binding")
            #expect(answer.pointers.contains(pointers[0]), "\(body)")
        }
        #expect(try await acme.call(.get, "faces/matrix/a").status == 404)
    }

    @Test(arguments: ["%6Beys", "%72ecent", "%00", "..", "%2E%2E", "%FF", String(repeating: "x", count: 257)])
    func `what cannot be a name is refused`(name: String) async throws {
        let path = acme.path("faces/matrix/\(name)")
        let answer = try await api.call(.put, path, Self.binding, as: TestAPI.operatorToken)
        #expect(answer.refusal == "400 invalid-id")
    }

    @Test(arguments: [
        ("faces/matrix/keys", "GET, HEAD, POST"), ("faces/matrix/recent", "GET, HEAD"),
        ("faces/matrix/a", "DELETE, GET, HEAD, PUT"), ("faces", "GET, HEAD"), ("faces/matrix/keys/a", "DELETE"),
    ])
    func `what stands beside names is not one`(path: String, allow: String) async throws {
        let answer = try await acme.call(.patch, path, Self.binding, as: TestAPI.operatorToken)
        #expect(answer.status == 405)
        #expect(answer.headers[.allow] == allow)
    }

    @Test(arguments: [
        (HTTPRequest.Method.get, "faces/ably/a"), (.put, "faces/ably/a"), (.get, "faces/nobody/keys"),
        (.post, "faces/ably/keys"), (.get, "faces/ably/recent"), (.delete, "faces/ably/keys/a"),
    ])
    func `a system that is not answered here has no names`(method: HTTPRequest.Method, path: String) async throws {
        let answer = try await acme.call(method, path, Self.binding, as: TestAPI.operatorToken)
        #expect(answer.refusal == "404 not-found")
    }

    @Test func `only admins see and write what belongs to their network`() async throws {
        let other = try await api.makeNetwork("other")
        let notify = try await api.makeKey("notify", in: acme)
        for (method, path) in [
            (HTTPRequest.Method.get, "faces"), (.get, "faces/matrix/a"), (.put, "faces/matrix/a"),
            (.delete, "faces/matrix/a"), (.get, "faces/matrix/keys"), (.post, "faces/matrix/keys"),
            (.delete, "faces/matrix/keys/a"), (.get, "faces/matrix/recent"),
        ] {
            for (token, status) in [(nil, 401), (notify, 403), (other.adminKey, 404)] as [(String?, Int)] {
                let answer = try await api.call(method, acme.path(path), Self.binding, as: token)
                #expect(answer.status == status, "\(method) \(path)")
            }
        }
        #expect(api.dispatcher.told.isEmpty)
    }

    @Test func `a new name is bound by the operator, and its settings by the admin`() async throws {
        let path = acme.path("faces/matrix/com.acme.%2A")
        let refused = try await acme.call(.put, path, Self.binding)
        #expect(refused.refusal == "403 forbidden")
        let made = try await api.call(.put, path, Self.binding, as: TestAPI.operatorToken)
        #expect(made.status == 201)
        #expect(
            made.json == [
                "face": "matrix", "externalId": "com.acme.*", "text": "hi", "updatedAt": "2026-11-24T12:00:00.000Z",
            ]
        )
        try await api.database.advance(by: .seconds(1))
        let changed = try await acme.call(.put, path, #"{"text":"ho"}"#)
        #expect(changed.status == 200)
        #expect(changed.string("updatedAt") == "2026-11-24T12:00:01.000Z")
        #expect(try await acme.call(.get, "faces/matrix/com.acme.*").json == changed.json)
        #expect(try await acme.call(.delete, path).status == 204)
        #expect(try await acme.call(.delete, path).status == 404)
        #expect(try await acme.call(.get, path).status == 404)
        #expect(api.dispatcher.told.allSatisfy { $0 == "faces of acme changed" })
    }

    @Test func `a name belongs to one network, unless it is private`() async throws {
        let other = try await api.makeNetwork("other")
        let token = TestAPI.operatorToken
        let (mine, theirs) = (acme.path("faces/matrix/a"), other.path("faces/matrix/a"))
        #expect(try await api.call(.put, mine, Self.binding, as: token).status == 201)
        let taken = try await api.call(.put, theirs, Self.binding, as: token)
        #expect(taken.refusal == "409 name-taken")
        // To an admin, whose a name is does not matter: it is not theirs.
        #expect(try await other.call(.put, theirs, Self.binding).status == 403)
        let behindAKey = #"{"text":"hi","gatewayKeyRequired":true}"#
        #expect(try await other.call(.put, theirs, behindAKey).status == 201)
        #expect(try await other.call(.put, theirs, Self.binding).status == 403)
        #expect(try await api.call(.put, theirs, Self.binding, as: token).status == 409)
        #expect(try await acme.call(.delete, mine).status == 204)
        #expect(try await api.call(.put, theirs, Self.binding, as: token).status == 200)
    }

    @Test func `there is a limit of names and of keys`() async throws {
        for number in 0..<FaceBinding.maximumCount {
            let path = acme.path("faces/matrix/\(number)")
            #expect(try await api.call(.put, path, Self.binding, as: TestAPI.operatorToken).status == 201)
        }
        let more = try await acme.call(.put, "faces/matrix/more", Self.binding, as: TestAPI.operatorToken)
        #expect(more.refusal == "409 limit-reached")
        let first = try await acme.call(.get, "faces?face=matrix&limit=150")
        let next = try #require(first.string("next"))
        let second = try await acme.call(.get, "faces?limit=150&cursor=\(next)")
        #expect(second["items", "49"] != nil && second["items", "50"] == nil && second.string("next") == nil)
        #expect(try await acme.call(.get, "faces?face=ably").json == ["items": []])
        for query in ["face=none", "faces=matrix", "cursor=%21", "limit=0"] {
            let answer = try await acme.call(.get, "faces?\(query)")
            #expect(answer.problem == "invalid-parameter", "\(query)")
        }
    }

    @Test(
        arguments: [
            (#"{}"#, "/rights"), (#"{"rights":1}"#, "/rights"), (#"{"rights":[],"name":""}"#, "/name"),
            (#"{"rights":[],"name":".."}"#, "/name"),
            (#"{"rights":[],"name":"\#(String(repeating: "x", count: 257))"}"#, "/name"),
            (#"{"rights":[],"secret":""}"#, "/secret"), (#"{"rights":[],"label":1}"#, "/label"),
            (#"{"rights":[],"more":1}"#, "/more"), (#"{"rights":["\#(String(repeating: "x", count: 1_000))"]}"#, nil),
            (
                #"{"rights":[\#(String(repeating: #""\#(String(repeating: "x", count: 500))","#, count: 9))"x"]}"#,
                "/rights"
            ),
        ] as [(String, String?)]
    )
    func `what is no key is refused with its place`(body: String, pointer: String?) async throws {
        let answer = try await acme.call(.post, "faces/matrix/keys", body, as: TestAPI.operatorToken)
        #expect(answer.status == (pointer == nil ? 201 : 400))
        #expect(answer.pointers == (pointer.map { [$0] } ?? []))
    }

    @Test func `a key that clients hold already is taken over by the operator, once`() async throws {
        let other = try await api.makeNetwork("other")
        let body = #"{"name":"old","secret":"s3cret","rights":["x"]}"#
        let refused = try await acme.call(.post, "faces/matrix/keys", body)
        #expect(refused.status == 403)
        #expect(refused.pointers == ["/secret"])
        let token = TestAPI.operatorToken
        #expect(try await acme.call(.post, "faces/matrix/keys", body, as: token).status == 201)
        for network in [acme, other] {
            let taken = try await network.call(.post, "faces/matrix/keys", body, as: token)
            #expect(taken.refusal == "409 name-taken")
        }
        let list = try await acme.call(.get, "faces/matrix/keys")
        #expect(!list.text.contains("s3cret"))
    }

    @Test func `a key's secret is shown once, and ends with the key`() async throws {
        let keys = acme.path("faces/matrix/keys")
        let body = #"{"name":"a/b","rights":["x"],"label":"Bot"}"#
        let made = try await acme.call(.post, keys, body, headers: ["idempotency-key": "1"])
        #expect(made.status == 201)
        #expect(made.headers[.cacheControl] == "no-store")
        let shown: JSONValue = [
            "name": "a/b", "rights": ["x"], "label": "Bot", "createdAt": "2026-11-24T12:00:00.000Z",
        ]
        #expect(made.string("secret") == "mk_made")
        #expect(try await acme.call(.get, keys).json == ["items": [shown]])
        let again = try await acme.call(.post, keys, body, headers: ["idempotency-key": "1"])
        #expect(again.status == 201)
        #expect(again.json == made.json)
        #expect(again.headers[IdempotencyKey.replayed] == "true")
        #expect(try await acme.call(.delete, keys + "/a%2Fb").status == 204)
        #expect(try await acme.call(.delete, keys + "/a%2Fb").status == 404)
        #expect(try await acme.call(.get, keys).json == ["items": []])
    }

    @Test func `a face is not there until a network is bound, and then tells admins what it answered`() async throws {
        let before = try await api.call(.get, "/mirror/a")
        #expect(before.status == 404)
        #expect(before.json == ["oops": 404])
        let path = acme.path("faces/matrix/a*")
        #expect(try await api.call(.put, path, Self.binding, as: TestAPI.operatorToken).status == 201)
        #expect(try await api.call(.get, "/mirror/ab").json == ["text": "hi"])
        #expect(try await api.call(.get, "/mirror/b").status == 404)
        #expect(try await api.call(.get, "/mirror/a!").status == 403)
        let recent = try await acme.call(.get, "faces/matrix/recent")
        let at: JSONValue = "2026-11-24T12:00:00.000Z"
        #expect(
            recent.json == [
                "items": [
                    ["at": at, "operation": "look", "status": 403, "reason": "names must not shout", "eventId": .null],
                    ["at": at, "operation": "look", "status": 200, "reason": .null, "eventId": .null],
                ]
            ]
        )
        #expect(try await acme.call(.get, "faces/matrix/recent?x=1").status == 400)
        #expect(try await acme.call(.delete, path).status == 204)
        #expect(try await api.call(.get, "/mirror/ab").status == 404)
    }

    @Test func `the other systems' description is a document of its own`() async throws {
        let answer = try await api.call(.get, "/openapi-faces.yaml")
        #expect(answer.headers[.contentType] == "application/yaml")
        #expect(answer.text == "openapi: 3.1.0\ninfo:\n")
    }
}
