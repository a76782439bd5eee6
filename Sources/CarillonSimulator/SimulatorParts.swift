/// The services of a simulator and what they share.
struct SimulatorParts: Sendable {
    let received: ReceivedNotifications
    let departures: Departures
    let account: ServiceAccount
    let tokenEndpoint: TokenEndpoint
    let traffic: [SimulatedService: Traffic]
    let servers: [SimulatedService: any PushServer]
    private let providerTokens: [ProviderTokens]
    private let subscriptions: Subscriptions
    private let webPushURL: String

    init(_ configuration: SimulatorConfiguration, urls: SimulatorURLs) {
        let received = ReceivedNotifications(limit: configuration.recordLimit)
        let traffic = Dictionary(
            uniqueKeysWithValues: SimulatedService.allCases.map { ($0, Traffic(configuration.disturbances)) }
        )
        let departures = Departures()
        let subscriptions = Subscriptions()
        let firstRequests = FirstRequests()
        func scene(_ service: SimulatedService) -> Scene {
            Scene(
                service: service,
                detail: configuration.detail,
                traffic: traffic[service] ?? Traffic(configuration.disturbances),
                departures: departures,
                firstRequests: firstRequests,
                received: received
            )
        }
        let account = ServiceAccount(projectID: configuration.projectID, tokenURL: urls.token)
        let tokenEndpoint = TokenEndpoint(
            account: account,
            lifetime: configuration.accessTokenLifetime,
            traffic: traffic[.oauth] ?? Traffic(configuration.disturbances)
        )
        let production = ProviderTokens(limitsUpdates: configuration.limitsTokenUpdates)
        let sandbox = ProviderTokens(limitsUpdates: configuration.limitsTokenUpdates)
        let apns = ConnectionRules(
            allowsHTTP1: false,
            maximumConcurrentStreams: configuration.maximumConcurrentStreams,
            startsWithOneStream: configuration.startsWithOneStream,
            goAwayReason: #"{"reason":"Shutdown"}"#
        )
        let web = ConnectionRules(
            allowsHTTP1: true,
            maximumConcurrentStreams: configuration.maximumConcurrentStreams
        )
        servers = [
            .apnsProduction: APNsServer(scene: scene(.apnsProduction), tokens: production, connectionRules: apns),
            .apnsSandbox: APNsServer(scene: scene(.apnsSandbox), tokens: sandbox, connectionRules: apns),
            .fcm: FCMServer(
                scene: scene(.fcm),
                projectID: configuration.projectID,
                tokens: tokenEndpoint,
                connectionRules: web
            ),
            .webPush: WebPushServer(
                scene: scene(.webPush),
                origin: urls.webPush,
                subscriptions: subscriptions,
                decrypts: configuration.decryptsMessages,
                connectionRules: web
            ),
        ]
        self.received = received
        self.traffic = traffic
        self.departures = departures
        self.subscriptions = subscriptions
        self.account = account
        self.tokenEndpoint = tokenEndpoint
        providerTokens = [production, sandbox]
        webPushURL = urls.webPush
    }

    func makeAPNsKey(teamID: String) -> APNsKey {
        let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
        let key = APNsKey(teamID: teamID, keyID: String((0..<10).compactMap { _ in letters.randomElement() }))
        for tokens in providerTokens { tokens.register(key) }
        return key
    }

    func makeSubscription(_ prefix: String, applicationServerKey: String?) -> PushSubscription {
        let name = (prefix.isEmpty ? "browser" : prefix) + "-" + SimulatedToken.random()
        let subscriber = Subscriber(applicationServerKey: applicationServerKey.map { Base64URL.decode($0) ?? [] })
        subscriptions.add(subscriber, name: name)
        return subscriber.subscription(endpoint: webPushURL + WebPushServer.endpointPath + name)
    }
}
