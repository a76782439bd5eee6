package import CarillonCore
package import Hummingbird
package import Metrics

extension Router<CarillonRequestContext> {
    /// What every request passes on its way in, outermost first.
    package func addEdge(
        problems: ProblemMapping,
        routes: RouteTable,
        settings: ServerSettings,
        faces: [any Face] = [],
        journal: Journal? = nil,
        metrics: any MetricsFactory
    ) {
        let ids = UUIDv7Generator()
        let log = RequestLog(.ofAnswers)
        addMiddleware {
            RequestIDMiddleware { ids.next().canonicalText }
            ClientAddressMiddleware(proxies: settings.trustedProxies)
            RequestMetricsMiddleware(metrics: RequestMetrics(factory: metrics))
            AccessLogMiddleware(log: log)
            CORSMiddleware(origins: settings.corsOrigins, faces: faces.filter(\.isForBrowsers))
            AuditMiddleware()
            FaceMiddleware(faces: faces, journal: journal, metrics: FaceMetrics(factory: metrics))
            ProblemMiddleware(
                log: log,
                mapping: problems,
                routes: routes,
                faces: faces,
                workLimit: settings.workLimit
            )
            RequestLimitsMiddleware(settings: settings, faces: faces)
        }
    }
}
