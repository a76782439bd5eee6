import CarillonCore
import CarillonProviders
import CarillonStore
import Logging
import PushHTTP

/// The adapters, with what each needs.
struct PushProviders: Sendable {
    let all: [any Provider]
    let formats: [CredentialFormat]
    let endpoints: EndpointClient
    let introspection: IntrospectionClient
    /// How many connections there may be to one endpoint's host.
    let endpointConnections: Int
    private let forgetCredentials: @Sendable (NetworkID) async -> Void

    init(_ ground: Groundwork) throws {
        let (settings, storage, descriptors) = (ground.settings, ground.storage, ground.descriptors)
        let (stores, logger) = (ground.stores, ground.logger)
        let (tls, clock, store) = (settings.outboundTLS, storage.clock, stores.credentials)
        func client(
            _ egress: EgressGuard,
            _ resolver: NameResolver,
            _ policy: ConnectionPolicy
        ) throws -> OutboundHTTPClient {
            try OutboundHTTPClient(egress: egress, resolver: resolver, tls: tls, policy: policy, logger: logger)
        }
        /// A resolver of names that users choose, with a part of all look-ups.
        func names(_ part: Int) -> NameResolver {
            NameResolver(limits: .chosenByUsers(slots: max(1, descriptors.lookups / part)))
        }
        let guarded = try client(settings.egress, names(2), .brief.limited(to: descriptors.webConnections))
        let endpointPolicy = EndpointClient.policy(connections: descriptors.relayConnections)
        endpointConnections = endpointPolicy.maximumOpenConnectionsPerHost
        endpoints = EndpointClient(
            transport: try client(settings.egress.confidential, names(4), endpointPolicy),
            version: Release.version,
            clock: clock
        )
        introspection = IntrospectionClient(
            transport: try client(
                settings.egress.confidential,
                names(4),
                IntrospectionClient.policy(connections: descriptors.introspectionConnections)
            ),
            version: Release.version
        )
        let trustedNames = NameResolver(limits: .trusted)
        let trusted = try client(.unrestricted, trustedNames, .shared.limited(to: descriptors.fcmConnections))
        let fcmServer = settings.pushServices.fcm
        let fcmTokens = FCMTokenSource(transport: trusted, server: fcmServer, clock: clock)
        var memories: [@Sendable (NetworkID?) -> Void] = []
        func credentials<Credential: PushCredential>(_ provider: ProviderName) -> RememberedCredentials<Credential> {
            let apps: RememberedCredentials<Credential>.List = { network in
                let all = try await store.providersWithCredentials(of: network)
                return Set(all.filter { $0.provider == provider }.map(\.appID))
            }
            let found = RememberedCredentials(list: provider.kind.lanes == .byApp ? apps : nil) { network, app in
                try await store.providerCredential(provider, appID: app, of: network).map { try Credential($0) }
            }
            memories.append { found.forget(in: $0) }
            return found
        }
        let accounts = storage.accounts
        // Read for each group: a secret that another replica has thrown away must not sign.
        let webhookSecrets = RememberedCredentials(lifetime: .zero) { network, _ in
            try await accounts.outgoingWebhookSecrets(of: network, candidate: .generate())
        }
        memories.append { webhookSecrets.forget(in: $0) }
        all = [
            LogProvider(output: ground.output),
            WebhookProvider(client: guarded, secrets: webhookSecrets, version: Release.version, clock: clock),
            APNsProvider(
                connections: try APNsConnections(
                    tls: tls,
                    policy: .lasting.limited(to: descriptors.apnsConnections),
                    resolver: trustedNames,
                    logger: logger
                ),
                credentials: credentials(.apns),
                tokens: APNsTokenSource(tokens: storage.sharedToken, clock: clock),
                services: settings.pushServices.apns,
                clock: clock
            ),
            FCMProvider(
                transport: trusted,
                tokens: fcmTokens,
                credentials: credentials(.fcm),
                server: fcmServer,
                version: Release.version,
                clock: clock
            ),
            RelayProvider(client: endpoints, source: stores.messages, clock: clock),
            WebPushProvider(
                transport: guarded,
                credentials: credentials(.webpush),
                version: Release.version,
                clock: clock
            ),
        ]
        formats = [.apns, .fcm(server: fcmServer), .webpush]
        let forget: @Sendable (NetworkID?) -> Void = { [memories] network in memories.forEach { $0(network) } }
        storage.announcements.subscribe(to: .credentials) { forget($0) }
        forgetCredentials = { network in
            forget(network)
            fcmTokens.forgetFailures()
        }
    }

    /// Reads a network's credentials anew, because one of them has just been stored or removed.
    func forgetCredentials(of network: NetworkID) async { await forgetCredentials(network) }
}
