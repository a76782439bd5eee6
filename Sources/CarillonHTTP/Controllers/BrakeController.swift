import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// Lets go the brake on mass unregistrations (API section 9). For admins.
///
/// A brake belongs to a lane, which is named as `GET /providers` shows it: by its app, or by its host.
struct BrakeController: Controller {
    /// For how long a brake is let go: enough for what waits, too little to be forgotten.
    private static let duration = Duration.seconds(3600)

    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        for provider in [ProviderName.apns, .fcm] {
            router.post("/v1/networks/{network}/providers/\(provider.rawValue)/apps/{appId}/release") {
                try await releaseApp(provider, $0, $1)
            }
        }
        router.post("/v1/networks/{network}/providers/webpush/release", use: releaseHost)
    }

    private func releaseApp(
        _ provider: ProviderName,
        _ request: Request,
        _ context: CarillonRequestContext
    ) async throws -> Response {
        let access = try await admin(request, context)
        let app = try context.identifier("appId", as: DeviceAddress.self)
        try await RequestBodyReader.passEmpty(of: request, as: "invalid-release")
        return try await release(Lane(networkID: access.networkID, provider: provider, appID: app.rawValue))
    }

    private func releaseHost(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        let host = try await RequestBodyReader.json(of: request).read(as: "invalid-release") { $0.host(required: true) }
        return try await release(Lane(networkID: access.networkID, provider: .webpush, appID: host))
    }

    private func release(_ lane: Lane) async throws -> Response {
        let end = services.clock.now() + Self.duration
        try await services.releaseBrake(lane, end)
        return .json(["until": JSONValue(end)], status: .accepted)
    }
}
