import CarillonEdge
import CarillonHTTP
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

    @Test func `every answer can be read by the page, refusals too`() async throws {
        try await withOrigins(.named(["https://chat.example"])) { api in
            for path in ["/openapi.yaml", "/v1/networks", "/nowhere"] {
                let answer = try await api.call(.get, path, headers: ["origin": "https://chat.example"])
                #expect(answer.headers[.accessControlAllowOrigin] == "https://chat.example")
                #expect(answer.headers[.accessControlExposeHeaders]?.contains("retry-after") == true)
                #expect(answer.headers[.xRequestID]?.isEmpty == false)
            }
        }
    }

    @Test func `a page may send the headers of Ably's clients, and read those of their errors`() async throws {
        try await withOrigins(.all) { api in
            var headers = preflight
            headers["access-control-request-headers"] = "X-Ably-DeviceToken, ably-agent,x-evil, x-ably-\u{e9}"
            let preflight = try await api.call(.options, "/push/channelSubscriptions", headers: headers)
            let allowed = preflight.headers[.accessControlAllowHeaders] ?? ""
            #expect(allowed.hasSuffix("x-request-id, x-ably-devicetoken, ably-agent"))
            let answer = try await api.call(.get, "/time", headers: ["origin": "https://chat.example"])
            let exposed = answer.headers[.accessControlExposeHeaders] ?? ""
            #expect(["link", "x-ably-errorcode", "x-ably-errormessage"].allSatisfy(exposed.contains))
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
            let answer = try await api.call(.options, "/v1/networks", headers: preflight)
            #expect(answer.status == 405)
            #expect(answer.headers[.accessControlAllowOrigin] == nil)
        }
        try await withOrigins(.all) { api in
            let answer = try await api.call(.options, "/v1/networks", headers: preflight)
            #expect(answer.status == 204)
            #expect(answer.headers[.accessControlAllowOrigin] == "*")
        }
    }
}
