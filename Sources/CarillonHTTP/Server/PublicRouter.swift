import CarillonCore
package import CarillonEdge
package import Hummingbird

package enum PublicRouter {
    /// A router with all routes of API sections 2 to 9, and the console.
    package static func make(
        _ services: Services,
        faces: [any Face],
        openAPI: String,
        facesOpenAPI: String,
        console: ConsoleFiles?,
        spools: SpoolDirectory,
        problems: ProblemMapping,
        settings: ServerSettings
    ) -> Router<CarillonRequestContext> {
        let controllers = controllers(services, faces: faces, spools: spools)
        var settings = settings
        if console != nil { settings.folders.insert(ConsoleMiddleware.root + "/") }
        return .behindEdge(
            problems: problems,
            settings: settings,
            faces: faces,
            journal: services.journal,
            metrics: services.metrics
        ) { router in
            if let console { router.add(middleware: ConsoleMiddleware(files: console)) }
            router.add(middleware: RefusalRateMiddleware(rates: services.rates))
            DescriptionController(openAPI: openAPI, faces: facesOpenAPI).addRoutes(to: router)
            for controller in controllers { controller.addRoutes(to: router) }
            for face in faces {
                let (lookup, failures) = (services.faceLookup, services.failures)
                face.addRoutes(to: FaceRoutes(face.name, on: router, lookup: lookup, failures: failures))
            }
        }
    }

    private static func controllers(
        _ services: Services,
        faces: [any Face],
        spools: SpoolDirectory
    ) -> [any Controller] {
        let overview = NetworkOverview(reportSource: services.reportSource, recorder: services.recorder)
        let posts = PostJournal(entries: services.journal, history: services.history)
        let count = PostCount(services: services, journal: posts)
        return [
            CallerController(services: services),
            OverviewController(services: services, overview: overview),
            NetworkController(services: services, overview: overview),
            PlacementController(services: services),
            MoveController(services: services),
            CredentialController(services: services),
            UserTokenKeyController(services: services),
            UserTokenController(services: services),
            IntrospectionController(services: services),
            EventController(services: services, journal: posts, count: count),
            DialectController(services: services, journal: posts),
            DialectPostController(services: services, journal: posts, count: count),
            NotificationController(services: services, count: count),
            UserController(services: services),
            ChannelController(services: services),
            ImportController(services: services, spools: spools),
            ToggleController(services: services),
            ExplainController(services: services),
            DeviceController(services: services),
            TagController(services: services),
            SubscriptionController(services: services),
            TemplateController(services: services),
            DeadLetterController(services: services),
            ProviderController(services: services),
            ProviderCredentialController(services: services),
            BrakeController(services: services),
            EndpointController(services: services),
            RelayController(services: services),
            SourceController(services: services),
            StatisticsController(services: services),
            FaceController(services: services, faces: faces),
        ]
    }
}
