import CarillonCore
import CarillonProviders
import CarillonStore
import Foundation
import PushHTTP

/// Asks the servers that know whose foreign tokens are about a token that is nobody's.
struct IntrospectionChecks: Sendable {
    private static let subject = "token introspection"
    /// The most networks whose servers are asked.
    static let mostNetworks = 100
    /// How many of them at a time.
    private static let connections = 10
    private static let pageSize = 1_000

    private let asker: any UserTokenAsker

    init(_ asker: any UserTokenAsker) {
        self.asker = asker
    }

    /// Asks as the service does, at permitted addresses only.
    init(_ settings: Settings) throws {
        let transport = try OutboundHTTPClient(
            egress: settings.egress.confidential,
            tls: settings.outboundTLS,
            policy: IntrospectionClient.policy(connections: Self.connections)
        )
        self.init(IntrospectionClient(transport: transport, version: Release.version))
    }

    /// What is found of the networks of a database with all of its tables.
    func findings(_ accounts: PostgresAccountStore) async throws -> [Finding] {
        var (found, last): ([Network], NetworkID?) = ([], nil)
        while found.count <= Self.mostNetworks {
            let page = try await accounts.networks(after: last, limit: Self.pageSize).networks
            found += page.filter { $0.introspection != nil }
            last = page.last?.id
            if page.count < Self.pageSize { break }
        }
        return await findings(of: found)
    }

    /// One line for each server with which something is wrong, and one for all others.
    func findings(of networks: [Network]) async -> [Finding] {
        let asked = networks.prefix(Self.mostNetworks).compactMap { network in
            network.introspection.map { (network.id, $0) }
        }
        guard !asked.isEmpty else { return [.ok(Self.subject, "no network has any")] }
        var answers: [NetworkID: UserTokenAnswer] = [:]
        for start in stride(from: 0, to: asked.count, by: Self.connections) {
            await withTaskGroup { group in
                for (network, introspection) in asked[start...].prefix(Self.connections) {
                    group.addTask {
                        let token = Secret("carillon-doctor-\(UUID().uuidString)")
                        return (network, await asker.ask(introspection, about: token, in: network))
                    }
                }
                for await (network, answer) in group { answers[network] = answer }
            }
        }
        let troubles = asked.map { network, _ in
            answers[network].flatMap { Self.trouble(with: $0, of: network) }.map { [$0] } ?? []
        }
        let more = networks.count > asked.count ? "; only the first were asked" : ""
        return .of(troubles, Self.subject, "servers know nobody of a made-up token", more)
    }

    private static func trouble(with answer: UserTokenAnswer, of network: NetworkID) -> Finding? {
        let subject = "\(subject) \(network)"
        return switch answer {
        case .nobody: nil
        case .user:
            .fail(subject, "the server says that a made-up token is a user's, so that anybody is believed: mend it")
        case .failed(let reason):
            .warn(subject, "no answer (\(reason)), so that users with foreign tokens are turned away")
        }
    }
}
