import CarillonCore
import CarillonEdge
import CarillonFaces
import CarillonTesting
import HTTPTypes
import Hummingbird
import Synchronization
import Testing

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
        face.addRoutes(to: FaceRoutes(face.name, on: router) { FaceIndex(.empty) })
        return router.routes.filter { $0.method != .head }.map { route in
            DescribedOperation(method: route.method.rawValue.lowercased(), path: route.path.description)
        }
    }
}
