import CarillonCore
import CarillonProviders
import CarillonStore
import Logging
import Postgres
import PushHTTP

/// Looks up what a network has stored for push services, and tries it.
struct NetworkCredentialChecks: Sendable {
    let settings: Settings
    let network: NetworkID
    private let logger = Logger(label: "carillon.doctor") { _ in SwiftLogNoOpLogHandler() }

    func findings() async -> [Finding] {
        let subject = "network \(network)"
        do {
            guard let masterKey = try MasterKey.existing(in: settings),
                let box = SecretBox(masterKey: masterKey.bytes, previous: settings.masterKeyPrevious?.bytes)
            else {
                return [.fail(subject, "nothing is stored yet: the first start of the service makes the master key")]
            }
            let placement = try await Database.placement(of: network, settings, logger: logger)
            return try await Database.withPool(settings, of: placement, logger: logger) { pool in
                let accounts = PostgresAccountStore(pool: pool, box: box, ids: UUIDv7Generator())
                guard try await accounts.credentials(of: network) != nil else {
                    return [.fail(subject, "there is no network of this id")]
                }
                let store = PostgresProviderCredentialStore(Placed(PlacementDatabase(accounts)))
                let stored = try await store.providerCredentials(of: network)
                let outbox = PostgresOutbox(pool: pool, ids: UUIDv7Generator())
                let lanes = try await outbox.laneConditions(of: network).lanes
                let tokens = PostgresProviderTokenStore(pool: pool, box: box)
                return try await CredentialChecks(settings, tokens: tokens).findings(stored)
                    + LaneChecks.findings(
                        of: AppReader(pool: pool).apps(of: network),
                        with: stored.map { ($0.provider, $0.appID) }
                    )
                    + LaneChecks.findings(of: lanes.map { LaneStatus(lane: $0, $1) })
            }
        } catch {
            return [.fail(subject, "\(error)")]
        }
    }
}

extension CredentialChecks {
    /// Asks the push services themselves. Tokens for Apple are shared with the service, so that no more are made.
    fileprivate init(_ settings: Settings, tokens: PostgresProviderTokenStore) throws {
        let tls = settings.outboundTLS
        let verification = APNsVerification(
            connections: try APNsConnections(tls: tls),
            tokens: APNsTokenSource(
                tokens: { try await tokens.providerToken($0, candidate: $1, ifOlderThan: $2) }
            ),
            services: settings.pushServices.apns
        )
        let client = try OutboundHTTPClient(egress: .unrestricted, tls: tls)
        let accessTokens = FCMTokenSource(transport: client, server: settings.pushServices.fcm)
        self.init(
            askAPNs: { await verification.verdict(on: $0, appID: $1, environment: $2) },
            askFCM: { credential throws(FCMTokenFailure) in try await accessTokens.verify(credential) },
            clock: .system
        )
    }
}
