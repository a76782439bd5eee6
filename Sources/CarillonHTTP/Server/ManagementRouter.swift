package import Metrics
package import Hummingbird
import CarillonCore
package import CarillonEdge
import HTTPTypes
import NIOCore

/// The routes of the management port (API section 13).
package enum ManagementRouter {
    /// A router for health and metrics.
    ///
    /// - Parameters:
    ///   - reasonsNotReady: Why the service cannot work at the moment, in plain words; empty when it can.
    ///   - warnings: What an operator should look at although the service works.
    ///   - exposition: The metrics in Prometheus' text format.
    ///   - metrics: Where requests are counted.
    /// - Returns: The router.
    package static func make(
        reasonsNotReady: @escaping @Sendable () async -> [String],
        warnings: @escaping @Sendable () -> [String] = { [] },
        exposition: @escaping @Sendable () async -> String,
        metrics: any MetricsFactory
    ) -> Router<CarillonRequestContext> {
        func addRoutes(to router: Router<CarillonRequestContext>) {
            router.get("/health/live") { _, _ in Response.json(["status": "live"]) }
            router.get("/health/ready") { _, _ in
                let reasons = await reasonsNotReady()
                guard reasons.isEmpty else { throw Problem.notReady(reasons) }
                var answer: JSONObject = ["status": "ready"]
                let warnings = warnings()
                if !warnings.isEmpty { answer["warnings"] = JSONValue(warnings) }
                return Response.json(.object(answer))
            }
            router.get("/metrics") { _, _ in
                Response(
                    status: .ok,
                    headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                    body: ResponseBody(byteBuffer: ByteBuffer(string: await exposition()))
                )
            }
        }
        let outline = Router(context: CarillonRequestContext.self)
        addRoutes(to: outline)
        let router = Router(context: CarillonRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.addEdge(
            problems: ProblemMapping(),
            routes: RouteTable(outline),
            settings: ServerSettings(),
            metrics: metrics
        )
        addRoutes(to: router)
        return router
    }
}
