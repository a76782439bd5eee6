import CarillonCore
import CarillonEdge
import CarillonHTTP
import CarillonTesting
import HTTPTypes
import Testing

@Suite(.acme) struct EdgeTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }

    @Test(arguments: [
        "/nowhere", "/v1/networks/acme/nowhere", "/v1", "/v1/networks/", "//v1/networks", "/v1//networks",
    ])
    func `an unknown path is 404 with a problem and a request id`(path: String) async throws {
        let answer = try await api.call(.get, path, as: TestAPI.operatorToken)
        #expect(answer.refusal == "404 not-found")
        #expect(answer.headers[.xRequestID]?.isEmpty == false)
    }

    @Test(arguments: [
        ("/v1/networks", "GET, HEAD, POST"),
        ("/v1/networks/acme/users/me", "DELETE, GET, HEAD, PUT"),
        ("/v1/networks/acme/events", "GET, HEAD, POST"),
        ("/v1/networks/acme/templates/preview", "POST"),
        ("/openapi.yaml", "GET, HEAD"),
    ])
    func `a known path with another method is 405 with Allow`(path: String, allow: String) async throws {
        let answer = try await api.call(.patch, path, "{}")
        #expect(answer.status == 405)
        #expect(answer.headers[.allow] == allow)
        #expect(answer.problem == "method-not-allowed")
    }

    @Test func `echoes a printable request id and makes one otherwise`() async throws {
        for id in ["abc", "a b~", String(repeating: "x", count: 128)] {
            let answer = try await api.call(.get, "/openapi.yaml", headers: ["x-request-id": id])
            #expect(answer.headers[.xRequestID] == id)
        }
        for id in [String(repeating: "x", count: 129), "a\u{e9}"] {
            let answer = try await api.call(.get, "/openapi.yaml", headers: ["x-request-id": id])
            #expect(answer.headers[.xRequestID]?.count == 36)
        }
    }

    @Test func `too many or too large headers are 431`() async throws {
        let many = Dictionary(uniqueKeysWithValues: (0..<100).map { ("x-\($0)", "1") })
        let counted = try await api.call(.get, "/openapi.yaml", headers: many)
        #expect(counted.status == 431)
        let large = ["x-large": String(repeating: "a", count: 16 * 1024)]
        let answer = try await api.call(.get, "/openapi.yaml", headers: large)
        #expect(answer.refusal == "431 headers-too-large")
    }

    @Test func `a body over its limit is 413`() async throws {
        let padding = String(repeating: " ", count: 64 * 1024)
        let users = try await network.call(.put, "users/bob", "{}" + padding)
        #expect(users.refusal == "413 content-too-large")
        let event = #"{"id":"1","type":"nothing"}"#
        let fits = try await network.call(.post, "events", event + padding)
        #expect(fits.status == 202)
        let tooMuch = event + String(repeating: padding, count: 4)
        let events = try await network.call(.post, "events", tooMuch)
        #expect(events.status == 413)
    }

    @Test(arguments: [
        "text/plain", "application/x-www-form-urlencoded", "application/problem+json",
        "application/json;charset=latin1",
        "application/merge-patch+json",
    ])
    func `a body of another type is 415`(type: String) async throws {
        for path in ["users/bob", "notifications", "devices/d-1"] {
            let answer = try await network.call(.put, path, "{}", type: type)
            #expect(answer.refusal == "415 unsupported-media-type")
            #expect(answer.string("detail")?.hasPrefix("Content-Type is \(type), and must be application/json") == true)
        }
        let event = try await network.call(.post, "events", "{}", type: type)
        #expect(event.status == 415)
    }

    @Test func `a compressed body is 415`() async throws {
        let headers = ["content-encoding": "gzip"]
        let answer = try await network.call(.put, "users/b", "{}", headers: headers)
        #expect(answer.status == 415)
    }

    @Test(arguments: ["application/json; charset=utf-8", "Application/JSON", #"application/json;charset="UTF-8""#, nil])
    func `JSON in UTF-8 is taken however its type is spelled`(type: String?) async throws {
        let answer = try await network.call(.put, "users/b", "{}", type: type)
        #expect(answer.status == 201)
    }

    @Test(arguments: [
        #"{"displayName":"\u0000"}"#, #"{"displayName":"\ud800"}"#, #"{"displayName":"a","displayName":"b"}"#, "{",
        "", String(repeating: "[", count: 10_000), #"{"roles":1\#(String(repeating: "0", count: 400))}"#, "\u{feff}{}",
    ])
    func `JSON that is not acceptable is 400`(body: String) async throws {
        let answer = try await network.call(.put, "users/bob", body)
        #expect(answer.refusal == "400 invalid-json")
        #expect(answer.pointers.count == 1)
    }

    @Test(arguments: ["%", "%2", "%zz", "%ff", "%00", "a%0ab", String(repeating: "a", count: 257), "."])
    func `a path segment that is no id is 400`(segment: String) async throws {
        let answer = try await network.call(.get, "users/\(segment)")
        #expect(answer.refusal == "400 invalid-id")
    }

    @Test(arguments: [("a%2Fb", "a/b"), ("a+b", "a+b"), ("%E0%B8%81", "ก"), ("a%2525", "a%25")])
    func `path segments are decoded exactly once`(segment: String, id: String) async throws {
        let answer = try await network.call(.put, "users/\(segment)", "{}")
        #expect(answer.status == 201)
        #expect(answer.string("id") == id)
    }

    @Test(arguments: [
        "limit=0", "limit=1001", "limit=x", "limit=", "limit=+1", "limit=1&limit=2", "cursor=!", "cursor=",
        "cursor=%ff",
        "cursor=AA",
    ])
    func `a bad limit or cursor is 400`(query: String) async throws {
        let answer = try await api.call(.get, "/v1/networks?\(query)", as: TestAPI.operatorToken)
        #expect(answer.refusal == "400 invalid-parameter")
    }

    @Test func `when the store is away everything is 503 with Retry-After`() async throws {
        api.database.answers(false)
        for path in ["users/bob", "notifications", "events", "templates", "devices/d"] {
            let answer = try await network.call(.get, path)
            #expect(answer.status == 503)
            #expect(answer.headers[.retryAfter] == "1")
            #expect(answer.problem == "service-unavailable")
        }
    }

    @Test func `an error that nobody foresaw is 500 without a word of it`() async throws {
        struct Surprise: Error { let secret = "hunter2" }
        try await withAPI(
            credentials: { CredentialsInTrouble(store: $0.credentials) { _ in throw Surprise() } }
        ) { api in
            let network = try await api.makeNetwork()
            let answer = try await network.call(.get, "providers/webpush")
            #expect(answer.refusal == "500 internal-error")
            #expect(!answer.text.contains("hunter2") && !answer.text.contains("Surprise"))
        }
    }

    @Test func `the executable's mapping is asked for errors of its adapters`() async throws {
        struct NetworkGone: Error {}
        let mapping = ProblemMapping { error in
            error is NetworkGone ? Problem("not-found", .notFound, "Gone") : nil
        }
        try await withAPI(
            credentials: { CredentialsInTrouble(store: $0.credentials) { _ in throw NetworkGone() } },
            problems: mapping
        ) { api in
            let network = try await api.makeNetwork()
            let answer = try await network.call(.get, "providers/webpush")
            #expect(answer.status == 404)
        }
    }

    @Test func `the description is there for everybody, and HEAD has no body`() async throws {
        let answer = try await api.call(.get, "/openapi.yaml")
        #expect(answer.status == 200)
        #expect(answer.text == "openapi: 3.1.0\n")
        let head = try await api.call(.head, "/openapi.yaml")
        #expect(head.status == 200)
        #expect(head.bytes.isEmpty)
        // The length is that of the body which GET would have.
        for path in ["/nowhere", "/v1/networks/acme/users/me/nothing"] {
            let refused = try await api.call(.head, path)
            #expect(refused.status == 404 && refused.bytes.isEmpty, "\(path)")
            #expect(refused.headers[.contentLength].flatMap { Int($0) } ?? 0 > 0, "\(path)")
        }
    }
}

extension HTTPField.Name {
    static let xRequestID = HTTPField.Name("x-request-id") ?? .via
}
