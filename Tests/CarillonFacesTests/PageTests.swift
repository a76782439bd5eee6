import CarillonEdge
import HTTPTypes
import Testing

@testable import CarillonFaces

/// FACES section A5: which faces pages may call.
@Suite struct PageTests {
    private func withPages(
        _ face: @escaping @Sendable (Services) -> any Face,
        _ test: @Sendable (FaceStage) async throws -> Void
    ) async throws {
        var settings = ServerSettings()
        settings.corsOrigins = .all
        try await withStage(face, settings: settings, test)
    }

    private func headers(_ more: [String: String] = [:]) -> [String: String] {
        ["origin": "https://chat.example", "access-control-request-method": "PUT"].merging(more) { $1 }
    }

    @Test func `a page may send the headers of Ably's clients, and read those of their errors`() async throws {
        try await withPages({ AblyFace($0) }) { stage in
            let names = "X-Ably-DeviceToken, ably-agent,x-evil, x-ably-\u{e9}"
            let asked = headers(["access-control-request-headers": names])
            let preflight = try await stage.call(.options, "/push/channelSubscriptions", headers: asked)
            let allowed = preflight.headers[.accessControlAllowHeaders] ?? ""
            #expect(allowed.hasSuffix("x-request-id, x-ably-devicetoken, ably-agent"))
            for path in ["/time", "/push/channelSubscriptions", "/push/nowhere"] {
                let answer = try await stage.call(.get, path, headers: headers())
                let exposed = answer.headers[.accessControlExposeHeaders] ?? ""
                #expect(["link", "x-ably-errorcode", "x-ably-errormessage"].allSatisfy(exposed.contains), "\(path)")
            }
            let beside = try await stage.call(.get, "/timeless", headers: headers())
            #expect(beside.headers[.accessControlAllowOrigin] == nil)
        }
    }

    @Test func `other faces are not for pages`() async throws {
        let faces: [(@Sendable (Services) -> any Face, String)] = [
            ({ MatrixFace($0) }, "/_matrix/push/v1/notify"), ({ AmityFace($0) }, "/v1/notification"),
            ({ BuzzFace($0) }, BuzzFace.path), ({ MobileFirstFace($0) }, "/imfpush/v1/apps/a/devices"),
        ]
        for (face, path) in faces {
            try await withPages(face) { stage in
                for method in [HTTPRequest.Method.options, .get, .post] {
                    let answer = try await stage.call(method, path, headers: headers())
                    let told = answer.headers.filter { $0.name.canonicalName.hasPrefix("access-control-") }
                    #expect(told.isEmpty, "\(method) \(path)")
                }
            }
        }
    }
}
