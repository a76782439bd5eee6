package import CarillonCore
import NIOHTTP1
package import PushHTTP

/// Asks a network's server whose token it is: one GET with the token, as the user's app would send it.
package struct IntrospectionClient: UserTokenAsker {
    /// How much of an answer's body is read; what is longer is none.
    package static let maximumAnswerBytes = 64 << 10
    private static let maximumHeadBytes = 16 << 10
    /// How long a question may take, from the name to the last byte of the answer.
    package static let deadline = Duration.seconds(2)

    private let transport: any HTTPTransport
    private let userAgent: String
    private let deadline: Duration

    /// A client whose transport sends to permitted addresses only, by ``policy(connections:)``.
    package init(
        transport: any HTTPTransport,
        version: String,
        deadline: Duration = IntrospectionClient.deadline
    ) {
        self.transport = transport
        userAgent = "Carillon/\(version)"
        self.deadline = deadline
    }

    /// How connections to such servers are kept, of which there are places for so many. A network has one such server, which may have
    /// as many as the network has questions: with fewer these would wait here, those of strangers before those of users.
    package static func policy(connections: Int) -> ConnectionPolicy {
        var policy = ConnectionPolicy.brief.limited(to: connections)
        policy.maximumOpenConnectionsPerHost = min(UserTokenIntrospection.questionsAtOnce, max(1, connections / 2))
        policy.maximumAnswerBytes = maximumAnswerBytes + maximumHeadBytes
        return policy
    }

    /// Asks once. What the server says of the token is an answer: a user, or nobody. What it says of itself is none.
    package func ask(
        _ introspection: UserTokenIntrospection,
        about token: Secret,
        in network: NetworkID
    ) async -> UserTokenAnswer {
        let request = OutboundRequest(
            method: .get,
            url: introspection.url,
            headers: [
                "authorization": token.reveal { "Bearer \($0)" }, "accept": "application/json",
                "user-agent": userAgent,
            ],
            body: [],
            lane: Lane(EndpointID(trusted: "user-token-introspection"), in: network)
        )
        do {
            return answer(try await transport.execute(request, timeout: deadline), by: introspection)
        } catch {
            return .failed(reason: OutboundError.reason(for: error))
        }
    }

    private func answer(_ response: OutboundResponse, by introspection: UserTokenIntrospection) -> UserTokenAnswer {
        switch response.status {
        case 200:
            guard response.body.count <= Self.maximumAnswerBytes else { return .failed(reason: "answer too long") }
            return introspection.userID(in: response.body).map { .user($0) } ?? .nobody
        // These are about the token; of the rest, a redirect leads elsewhere, and nothing is known.
        case 400, 401, 403, 404, 410: return .nobody
        default: return .failed(reason: "http \(response.status)")
        }
    }
}
