import CarillonCore
import CarillonProviders
import CarillonStore
import Logging
import Postgres
import PushHTTP

/// Tries credentials with the push services that they are for.
struct CredentialChecks: Sendable {
    private static let renewalDays: Int64 = 30

    /// Asks Apple about a credential for an app, in one of its two environments.
    let askAPNs: @Sendable (APNsCredential, _ appID: String, DeviceAddress.APNsEnvironment) async -> CredentialVerdict
    /// Asks Google for an access token, and whether messages can be sent with it.
    let askFCM: @Sendable (FCMCredential) async throws(FCMTokenFailure) -> CredentialVerdict
    let clock: WallClock

    func findings(_ credentials: [ProviderCredential]) async -> [Finding] {
        guard !credentials.isEmpty else { return [.ok("credentials", "the network has none for push services")] }
        var findings: [Finding] = []
        for credential in credentials {
            let subject = [credential.provider.rawValue, credential.appID].filter { !$0.isEmpty }.joined(separator: " ")
            do throws(InvalidInput) {
                switch credential.provider {
                case .apns: findings += await apns(try APNsCredential(credential), credential.appID, subject)
                case .fcm: findings.append(await fcm(try FCMCredential(credential), subject))
                case .webpush: findings.append(webPush(try WebPushCredential(credential), subject))
                default: break
                }
            } catch {
                findings.append(.fail(subject, "what is stored is no credential: PUT it again"))
            }
        }
        return findings
    }

    private func apns(_ credential: APNsCredential, _ appID: String, _ subject: String) async -> [Finding] {
        var findings = credential.notAfter.map { [Self.certificate(until: $0, at: clock.now(), subject)] } ?? []
        let verdicts: [(environment: DeviceAddress.APNsEnvironment, verdict: CredentialVerdict)] = [
            (.production, await askAPNs(credential, appID, .production)),
            (.sandbox, await askAPNs(credential, appID, .sandbox)),
        ]
        let worksSomewhere = verdicts.contains { $0.verdict == .accepted }
        for (environment, verdict) in verdicts {
            switch verdict {
            case .accepted:
                findings.append(.ok(subject, "\(environment.rawValue): Apple takes it"))
            case .refused(let reason):
                let (words, isAboutEnvironment) = Self.explanation(of: reason)
                let detail = "\(environment.rawValue): Apple refuses it (\(reason)): \(words)"
                // Some are made for one environment only, and then that is as it should be.
                findings.append(isAboutEnvironment && worksSomewhere ? .warn(subject, detail) : .fail(subject, detail))
            case .unknown(let reason):
                findings.append(.warn(subject, "\(environment.rawValue): cannot tell, Apple's service: \(reason)"))
            }
        }
        return findings
    }

    /// How long a certificate is still good for.
    static func certificate(until end: Timestamp, at now: Timestamp, _ subject: String) -> Finding {
        let left = end - now
        guard left > .zero else {
            return .fail(subject, "the certificate ended at \(end): PUT a new one, or a key, which never ends")
        }
        let days = left.wholeMilliseconds / 86_400_000
        let detail = "the certificate is good for \(days) more days, until \(end)"
        return days < renewalDays ? .warn(subject, "\(detail): renew it") : .ok(subject, detail)
    }

    private func fcm(_ credential: FCMCredential, _ subject: String) async -> Finding {
        do throws(FCMTokenFailure) {
            switch try await askFCM(credential) {
            case .accepted: return .ok(subject, "Google lets \(credential.clientEmail) send")
            case .refused(let reason):
                let words = Self.explanation(ofGoogle: reason, projectID: credential.projectID)
                return .fail(subject, "Google lets \(credential.clientEmail) in, but not send (\(reason)): \(words)")
            case .unknown(let reason):
                return .warn(
                    subject,
                    "Google lets \(credential.clientEmail) in; whether it may send cannot be told: \(reason)"
                )
            }
        } catch {
            switch error {
            case .uriNotPermitted:
                return .fail(
                    subject,
                    "nobody was asked: the service account's token_uri is neither Google's nor below CARILLON_FCM_URL, which has to be "
                        + "set here as for the service"
                )
            case .refused(let reason):
                return .fail(
                    subject,
                    "Google refuses \(credential.clientEmail) (\(reason)): is the key deleted, the account disabled, or "
                        + "this machine's clock wrong?"
                )
            case .unavailable(_, let reason):
                return .warn(subject, "cannot tell, \(reason)")
            }
        }
    }

    private func webPush(_ credential: WebPushCredential, _ subject: String) -> Finding {
        guard let contact = credential.subject else {
            return .fail(subject, "has a key pair but no subject, and sends nothing: PUT one, such as mailto:ops@…")
        }
        return .ok(subject, "is signed for \(contact)")
    }

    /// What Google's word for a refusal means.
    private static func explanation(ofGoogle reason: String, projectID: String) -> String {
        switch reason {
        case "SERVICE_DISABLED", "ACCESS_NOT_CONFIGURED":
            "the Firebase Cloud Messaging API (V1) is disabled in the project \(projectID): enable it there"
        case "NOT_FOUND": "there is no project \(projectID)"
        case "IAM_PERMISSION_DENIED", "PERMISSION_DENIED":
            "the account needs the permission cloudmessaging.messages.create in the project \(projectID)"
        default: "see docs/providers/fcm.md"
        }
    }

    /// What Apple's word for a refusal means, and whether only for the environment that was asked.
    private static func explanation(of reason: String) -> (words: String, isAboutEnvironment: Bool) {
        switch reason {
        case "BadCertificateEnvironment", "BadEnvironmentKeyIdInToken":
            ("it was made for the other environment", true)
        case "BadCertificate":
            ("the certificate is revoked, or not one for push notifications", false)
        case "ExpiredProviderToken":
            ("the token's time is wrong: let this machine's clock follow a time server", false)
        case "InvalidProviderToken":
            ("team id, key id and key do not belong together, or the key is revoked", false)
        case "UnrelatedKeyIdInToken":
            ("the key is not one of this team and app", false)
        case "BadTopic", "MissingTopic", "TopicDisallowed":
            ("it is not for this app: the app id must be the app's bundle id", false)
        default:
            ("see docs/providers/apns.md", false)
        }
    }
}

/// Looks up what a network has stored for push services, and tries it.
struct NetworkCredentialChecks: Sendable {
    let settings: Settings
    let network: NetworkID

    func findings() async -> [Finding] {
        let subject = "network \(network)"
        do {
            guard let box = try settings.existingSecretBox() else {
                return [.fail(subject, "nothing is stored yet: the first start of the service makes the master key")]
            }
            let placement = try await Database.placement(of: network, settings, logger: .silent)
            return try await Database.withPool(settings, of: placement, logger: .silent) { pool in
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
        let google = settings.pushServices.fcm
        let accessTokens = FCMTokenSource(transport: client, server: google)
        let sending = FCMVerification(transport: client, tokens: accessTokens, server: google)
        self.init(
            askAPNs: { await verification.verdict(on: $0, appID: $1, environment: $2) },
            askFCM: { credential throws(FCMTokenFailure) in try await sending.verdict(on: credential) },
            clock: .system
        )
    }
}
