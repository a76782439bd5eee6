import CarillonEdge
import CarillonHTTP
import CarillonTesting
import HTTPTypes
import Testing

@Suite struct CORSTests {
    private let preflight = ["origin": "https://chat.example", "access-control-request-method": "PUT"]

    private func withOrigins(_ origins: CORSOrigins, _ test: @Sendable (TestAPI) async throws -> Void) async throws {
        var settings = ServerSettings()
        settings.corsOrigins = origins
        try await withAPI(settings: settings, test)
    }

    @Test func `a page that may call is told so before it does, without credentials`() async throws {
        try await withOrigins(.named(["https://chat.example"])) { api in
            let answer = try await api.call(.options, "/v1/networks/acme/users/me", headers: preflight)
            #expect(answer.status == 204)
            #expect(answer.headers[.accessControlAllowOrigin] == "https://chat.example")
            #expect(answer.headers[.accessControlAllowMethods]?.contains("PUT") == true)
            #expect(answer.headers[.accessControlAllowHeaders]?.contains("authorization") == true)
            #expect(answer.headers[.vary] == "origin")
        }
    }

    @Test func `every answer to a user can be read by the page, refusals too`() async throws {
        try await withOrigins(.named(["https://chat.example"])) { api in
            for path in [
                "/v1/networks/acme/users/me", "/v1/networks/acme/users/me/notifications", "/v1/networks/acme/devices/d",
                "/v1/networks/acme/devices", "/v1/networks/acme/users/me/nowhere",
                "/v1/networks/acme/providers/webpush/key", "/v1/networks/acme/tags/offers/users/me",
                "/v1/networks/acme/tags/offers/devices/d",
            ] {
                let answer = try await api.call(.get, path, headers: ["origin": "https://chat.example"])
                #expect(answer.headers[.accessControlAllowOrigin] == "https://chat.example")
                #expect(answer.headers[.accessControlExposeHeaders]?.contains("retry-after") == true)
                #expect(answer.headers[.xRequestID]?.isEmpty == false)
            }
        }
    }

    @Test func `a page subscribes its user and its browser to a tag, and reads the key that it does with`() async throws
    {
        try await withOrigins(.named(["https://chat.example"])) { api in
            let network = try await api.makeNetwork()
            let tag = #"{"description":"Offers","selfService":true}"#
            #expect(try await network.call(.put, "tags/offers", tag).status == 201)
            let contact = #"{"subject":"mailto:ops@acme.example"}"#
            let pair = try await network.call(.put, "providers/webpush", contact)
            #expect(pair.status == 201)
            let asked: [(HTTPRequest.Method, String, Int)] = [
                (.get, "providers/webpush/key", 200), (.put, "tags/offers/users/me", 204),
                (.delete, "tags/offers/users/me", 204),
            ]
            for (method, path, status) in asked {
                var headers = preflight
                headers["access-control-request-method"] = method.rawValue
                let leave = try await api.call(.options, network.path(path), headers: headers)
                #expect(leave.status == 204)
                #expect(leave.headers[.accessControlAllowOrigin] == "https://chat.example", "\(path)")
                let answer = try await network.call(
                    method,
                    path,
                    as: network.token(),
                    headers: ["origin": "https://chat.example"]
                )
                #expect(answer.status == status, "\(path)")
                #expect(answer.headers[.accessControlAllowOrigin] == "https://chat.example", "\(path)")
            }
        }
    }

    @Test(arguments: [
        "/openapi.yaml", "/v1/networks", "/v1/networks/acme", "/v1/networks/acme/events",
        "/v1/networks/acme/users/alice",
        "/v1/networks/acme/users", "/v1/networks/devices", "/nowhere", "/", "/v1/notification",
        "/_matrix/push/v1/notify",
        "/pushing", "/v1/networks/acme/users/meme",
        "/v1/networks/acme/providers", "/v1/networks/acme/providers/webpush", "/v1/networks/acme/providers/apns/key",
        "/v1/networks/acme/providers/webpush/key/x", "/v1/networks/acme/tags", "/v1/networks/acme/tags/offers",
        "/v1/networks/acme/tags/offers/subscribers", "/v1/networks/acme/tags/offers/users/bob",
        "/v1/networks/acme/tags/users/me", "/v1/networks/acme/tags/offers/users/me/x",
    ])
    func `nothing else is for pages, answers, preflights and refusals alike`(path: String) async throws {
        for origins in [CORSOrigins.all, .named(["https://chat.example"])] {
            try await withOrigins(origins) { api in
                for method in [HTTPRequest.Method.get, .options, .post] {
                    let answer = try await api.call(method, path, headers: preflight)
                    let told = answer.headers.filter { $0.name.canonicalName.hasPrefix("access-control-") }
                    #expect(told.isEmpty, "\(method)")
                }
            }
        }
    }

    @Test(arguments: ["https://evil.example", "http://chat.example", "https://chat.example:8443", "null"])
    func `a page of another origin is told nothing`(origin: String) async throws {
        try await withOrigins(.named(["https://chat.example"])) { api in
            var headers = preflight
            headers["origin"] = origin
            let answer = try await api.call(.options, "/v1/networks/acme/users/me", headers: headers)
            #expect(answer.status == 405)
            #expect(answer.headers[.accessControlAllowOrigin] == nil)
            #expect(answer.headers[.vary] == "origin", "caches must not give this answer to the page that may call")
        }
    }

    @Test func `by default no page may call, and with a star all may`() async throws {
        try await withOrigins(.named([])) { api in
            let answer = try await api.call(.options, "/v1/networks/acme/users/me", headers: preflight)
            #expect(answer.status == 405)
            #expect(answer.headers[.accessControlAllowOrigin] == nil)
        }
        try await withOrigins(.all) { api in
            let answer = try await api.call(.options, "/v1/networks/acme/devices/d", headers: preflight)
            #expect(answer.status == 204)
            #expect(answer.headers[.accessControlAllowOrigin] == "*")
        }
    }
}
