import CarillonCore
import Foundation
import NIOHTTP1
import PushHTTP

/// A network of a running service, as its operator calls it.
struct OperatedNetwork: Sendable {
    private let service: RunningService
    private let network: String
    private let token: Secret

    /// The network of a service, as the environment says where it is and who its operator is.
    init(url: String?, network: String) throws {
        let settings = try Settings(environment: ProcessInfo.processInfo.environment)
        let secret = GeneratedSecrets(dataDirectory: settings.dataDirectory).operatorToken
        if let token = settings.operatorToken {
            self.token = token
        } else if secret.exists {
            token = Secret(try secret.load().text)
        } else {
            throw ConfigurationError(mistakes: ["\(Setting.operatorToken.variable) is needed: the operator calls"])
        }
        service = try RunningService(at: url ?? "http://\(settings.listen)", tls: settings.outboundTLS)
        self.network = network
    }

    static func path(of network: String) -> String { "/v1/networks/\(network.percentEncoded)" }

    /// Calls a path of the network.
    func call(
        _ method: OutboundRequest.Method,
        _ path: String,
        _ body: JSONValue
    ) async throws -> RunningService.Answer {
        let headers: HTTPHeaders = ["authorization": token.reveal { "Bearer \($0)" }]
        return try await service.call(method, Self.path(of: network) + path, headers, body.serialized)
    }
}
