import CarillonCore
import CarillonTesting
import HTTPTypes
import Hummingbird
import Synchronization
import Testing

@testable import CarillonEdge
@testable import CarillonFaces

/// Holds openapi-faces.yaml against the faces' routes.
@Suite struct FaceDescriptionTests {
    private static let faces: [@Sendable (Services) -> any Face] = [
        { AblyFace($0) }, { AmityFace($0) }, { BuzzFace($0) }, { MatrixFace($0) }, { MobileFirstFace($0) },
    ]

    @Test func `every route is described, and nothing else`() async throws {
        let routes = Mutex<[DescribedOperation]>([])
        for make in Self.faces {
            try await withStage(make) { stage in
                let operations = Self.operations(of: stage.face)
                #expect(operations.allSatisfy { stage.face.owns($0.path) }, "\(stage.face.name)")
                routes.withLock { $0 += operations }
            }
        }
        let described = try DescribedOperation.all(in: "openapi-faces.yaml")
        let found = routes.withLock(\.self)
        #expect(Set(found).subtracting(described).isEmpty)
        #expect(described.subtracting(found).isEmpty)
        #expect(Set(found).count == found.count, "two faces would answer the same")
    }

    @Test func `what nobody has bound is 404 in the words of the face`() async throws {
        for make in Self.faces {
            try await withStage(make) { stage in
                for operation in Self.operations(of: stage.face) {
                    let path = operation.path.replacing(/\{[^}]*\}/, with: "x")
                    let method = try #require(HTTPRequest.Method(operation.method.uppercased()))
                    let answer = try await stage.call(method, path, method == .get ? nil : "{}")
                    #expect(answer.status == 404, "\(operation)")
                    #expect(answer.headers[.contentType]?.hasPrefix("application/json") == true, "\(operation)")
                }
            }
        }
    }

    private static func operations(of face: any Face) -> [DescribedOperation] {
        let router = Router(context: CarillonRequestContext.self)
        face.addRoutes(to: FaceRoutes(face.name, on: router) { FaceLookup(FaceIndex(.empty)) })
        return router.routes.filter { $0.method != .head }.map { route in
            DescribedOperation(method: route.method.rawValue.lowercased(), path: route.path.description)
        }
    }
}

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

@Suite struct FaceKeyTests {
    @Test func `of a key that its holder sends only the hash is kept, and the secret is shown once`() {
        let request = FaceKeyRequest(
            networkID: "acme",
            name: nil,
            secret: nil,
            label: "Bot",
            now: Timestamp(milliseconds: 1)
        )
        let key = NewFaceKey(sent: "secret", name: "one", face: .matrix, rights: ["notify"], for: request)
        #expect(key.shown == ["secret": "secret"])
        #expect(key.stored.proof == .hash(SecretHash(of: "secret")))
        #expect(key.stored.key.label == "Bot")
        #expect(!"\(key.stored)".contains("secret"))
    }
}
