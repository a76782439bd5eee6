package import CarillonCore
package import Hummingbird
package import Metrics

extension Router<CarillonRequestContext> {
    /// Adds what every request passes: see ``EdgeMiddleware``.
    package func addEdge(
        problems: ProblemMapping,
        routes: RouteTable,
        settings: ServerSettings,
        faces: [any Face] = [],
        journal: Journal? = nil,
        metrics: any MetricsFactory
    ) {
        let log = RequestLog(.ofAnswers)
        add(
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
    }
}
