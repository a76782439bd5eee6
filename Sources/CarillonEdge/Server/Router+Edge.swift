package import CarillonCore
package import Hummingbird
package import Metrics

extension Router<CarillonRequestContext> {
    /// A router of what `addRoutes` adds, behind what every request passes: see ``EdgeMiddleware``.
    package static func behindEdge(
        problems: ProblemMapping = ProblemMapping(),
        settings: ServerSettings = ServerSettings(),
        faces: [any Face] = [],
        journal: Journal? = nil,
        metrics: any MetricsFactory,
        _ addRoutes: (Router) -> Void
    ) -> Router {
        let outline = Router(context: CarillonRequestContext.self)
        addRoutes(outline)
        let routes = RouteTable(outline)
        let log = RequestLog(.ofAnswers)
        let router = Router(context: CarillonRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(
            middleware: EdgeMiddleware(
                proxies: settings.trustedProxies,
                metrics: RequestMetrics(factory: metrics),
                log: log,
                cors: CORSPolicy(origins: settings.corsOrigins, faces: faces.filter(\.isForBrowsers)),
                faces: faces,
                faceLog: FaceLog(journal: journal, metrics: metrics),
                problems: ProblemWriter(log: log, mapping: problems, routes: routes, workLimit: settings.workLimit),
                limits: HeadLimits(settings: settings)
            )
        )
        addRoutes(router)
        return router
    }
}
