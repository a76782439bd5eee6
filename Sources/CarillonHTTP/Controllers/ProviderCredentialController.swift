import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// What networks are known by to push services (API section 9). For admins, except for the key that browsers subscribe
/// with.
struct ProviderCredentialController: Controller {
    /// How often a credential is read again that somebody else has just replaced.
    private static let mostAttempts = 10
    /// What is said of a body, and never of what is stored.
    private static let invalidDocument = "invalid-credential"

    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        for format in services.credentialFormats {
            let admins = admins(router)
            let provider = "/providers/\(format.provider.rawValue)"
            let path = format.isPerApp ? provider + "/apps/{appId}" : provider
            admins.show(path) { try await credential(format, format.appID(in: $0), of: $0.network)?.json }
            admins.put(path) { try await put(format, $0) }
            admins.delete(path) { request in
                let (network, appID) = (request.network, try format.appID(in: request))
                _ = try await services.credentials.deleteProviderCredential(format.provider, appID: appID, of: network)
                await services.credentialChanged(network, format.provider, format.lanes(of: appID))
                return .noContent
            }
            if format.provider == .webpush {
                callers(router).get(provider + "/key") { try await showPublicKey(format, $0) }
            }
        }
    }

    /// Stores a credential in the place of the one before; the same once more changes nothing.
    private func put(_ format: CredentialFormat, _ request: NetworkRequest) async throws -> Response {
        let (network, appID) = (request.network, try format.appID(in: request))
        let body = try await request.json()
        var credential = try format.read(body, appID, nil, services.clock.now())
        let change =
            format.isPerApp
            ? try await services.credentials.putProviderCredential(credential, of: network)
            : try await putKeepingKeys(&credential, format, body, of: network)
        if case .unchanged(let present) = change {
            await services.credentialConfirmed(network, format.provider, format.lanes(of: appID))
            return .json(present.json)
        }
        await services.credentialChanged(network, format.provider, format.lanes(of: appID))
        return .json(credential.json, status: change == .added ? .created : .ok)
    }

    /// Stores a credential with the keys of the one before.
    ///
    /// The first of a network is only added, so that of several that come at once with generated keys one pair remains; and
    /// a pair is written back only in its own place: another may have been made meanwhile, and browsers know that.
    private func putKeepingKeys(
        _ credential: inout ProviderCredential,
        _ format: CredentialFormat,
        _ body: JSONValue,
        of network: NetworkID
    ) async throws -> CredentialChange {
        let fresh = credential
        for _ in 0..<Self.mostAttempts {
            let former: ProviderCredential
            do {
                if let present = try await services.credentials.providerCredential(
                    format.provider,
                    appID: "",
                    of: network
                ) {
                    former = present
                } else {
                    former = try await services.credentials.addProviderCredential(fresh, of: network)
                    if former.isSame(as: fresh) { return .added }
                }
            } catch is UnreadableCredential {
                throw Problem.unreadableKeyPair
            }
            do throws(InvalidInput) {
                credential = try format.read(body, "", former, fresh.updatedAt)
            } catch {
                guard error.problem == Self.invalidDocument else { throw Problem.unreadableKeyPair }
                // What is right by itself and wrong beside what is there is another key pair.
                guard try await !services.devices.hasBrowsers(in: network) else { throw error }
                credential = fresh
            }
            if credential.isSame(as: former) { return .unchanged(former) }
            if try await services.credentials.replaceProviderCredential(former, by: credential, of: network) {
                return .replaced
            }
        }
        throw Problem.serviceUnavailable()
    }

    private func showPublicKey(_ format: CredentialFormat, _ request: NetworkRequest) async throws -> Response {
        try request.access.requireDevices()
        // Whoever looks makes none: it would stand in the way of the one that is brought along.
        let present = try await services.credentials.providerCredential(
            format.provider,
            appID: "",
            of: request.network
        )
        guard let publicKey = present?.identity["publicKey"] else {
            throw Problem.notFound("the network has no key yet: PUT /providers/\(format.provider.rawValue) makes one")
        }
        return .json(["publicKey": publicKey])
    }

    /// The credential that there is, made on first use where we make it ourselves.
    private func credential(
        _ format: CredentialFormat,
        _ appID: String,
        of network: NetworkID
    ) async throws -> ProviderCredential? {
        if let present = try await services.credentials.providerCredential(format.provider, appID: appID, of: network) {
            return present
        }
        guard let initial = format.initial(services.clock.now()) else { return nil }
        return try await services.credentials.addProviderCredential(initial, of: network)
    }
}

extension Problem {
    /// The key pair that browsers subscribed with is there, but is of no use.
    fileprivate static let unreadableKeyPair = conflict(
        "unreadable-credential",
        """
        the stored key pair cannot be read: check CARILLON_MASTER_KEY, with which it was sealed; DELETE removes it and the \
        next PUT makes another, for which browsers have to subscribe again
        """
    )
}

extension CredentialFormat {
    /// The app of a path; empty where there is none in it.
    fileprivate func appID(in request: NetworkRequest) throws(Problem) -> String {
        isPerApp ? try request.id("appId", as: DeviceAddress.self).rawValue : ""
    }

    /// The app whose lanes a credential is for; `nil` for all lanes of the provider.
    fileprivate func lanes(of appID: String) -> String? { isPerApp ? appID : nil }
}

extension ProviderCredential {
    /// The credential as `GET` shows it: what identifies it, and nothing secret.
    var json: JSONValue {
        let own: JSONObject = [
            "provider": .string(provider.rawValue), "appId": appID.isEmpty ? nil : .string(appID),
            "updatedAt": JSONValue(updatedAt),
        ]
        return .object(JSONObject(joining: own, identity))
    }
}
