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
        for provider in ProviderName.allCases where provider.kind.isPushService {
            let app = provider.kind.lanes == .byApp ? "/apps/{appId}" : ""
            admins(router).post("/providers/\(provider.rawValue)\(app)/release") { try await release(provider, $0) }
        }
    }

    private func release(_ provider: ProviderName, _ request: NetworkRequest) async throws -> Response {
        var lane = Lane(networkID: request.network, provider: provider, appID: "")
        if provider.kind.lanes == .byApp {
            lane.appID = try request.id("appId", as: DeviceAddress.self).rawValue
            try await request.passEmptyBody(as: "invalid-release")
        } else {
            let body = try await request.json()
            lane.appID = try body.read(as: "invalid-release") { $0.host(required: true) }
        }
        let end = services.clock.now() + Self.duration
        try await services.releaseBrake(lane, end)
        return .json(["until": JSONValue(end)], status: .accepted)
    }
}
