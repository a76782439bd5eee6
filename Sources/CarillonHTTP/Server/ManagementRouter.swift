package import Metrics
package import Hummingbird
package import CarillonCore
package import CarillonEdge
import HTTPTypes
import NIOCore

package struct ServiceHealth: Sendable {
    /// Why the service cannot work at the moment, in plain words; empty when it can.
    package var reasonsNotReady: [String]
    /// What an operator should look at although the service works.
    package var warnings: [String]
    /// Of several placements, those that cannot be used, with the reasons.
    package var placements: [PlacementName: String]

    package init(reasonsNotReady: [String], warnings: [String] = [], placements: [PlacementName: String] = [:]) {
        self.reasonsNotReady = reasonsNotReady
        self.warnings = warnings
        self.placements = placements
    }
}

/// The routes of the management port (API section 13).
package enum ManagementRouter {
    package static func make(
        health: @escaping @Sendable () async -> ServiceHealth,
        exposition: @escaping @Sendable () async -> String,
        metrics: any MetricsFactory
    ) -> Router<CarillonRequestContext> {
        .behindEdge(metrics: metrics) { router in
            router.get("/health/live") { _, _ in Response.json(["status": "live"]) }
            router.get("/health/ready") { _, _ in
                let health = await health()
                guard health.reasonsNotReady.isEmpty else { throw Problem.notReady(health.reasonsNotReady) }
                let placements = JSONObject(health.placements.map { ($0.key.rawValue, .string($0.value)) })
                return Response.json([
                    "status": "ready",
                    "placements": placements.isEmpty ? nil : .object(placements),
                    "warnings": health.warnings.isEmpty ? nil : JSONValue(health.warnings),
                ])
            }
            router.get("/metrics") { _, _ in
                Response(
                    status: .ok,
                    headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                    body: ResponseBody(byteBuffer: ByteBuffer(string: await exposition()))
                )
            }
        }
    }
}
