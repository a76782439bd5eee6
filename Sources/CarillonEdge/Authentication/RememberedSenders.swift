package import CarillonCore
import HTTPTypes

/// Who may post events and notifications to a network, as its credentials were when they were read last: all that is asked about one
/// post is answered by the same.
package struct RememberedSenders {
    let credentials: VerifiableCredentials
    let now: Timestamp

    package var network: Network { credentials.network }

    /// Whether the network's chat backend has signed a body.
    package func haveSigned(_ body: [UInt8], _ signature: SignedBody) -> Bool {
        (try? credentials.verify(signature, body, now: now)) != nil
    }

    /// The holder of one of the network's API keys. Only for posts, whose senders' keys have no rate.
    package func access(_ authorization: String) -> Access? {
        guard let text = try? HTTPFields([HTTPField(name: .authorization, value: authorization)]).bearerToken(),
            let key = APIKeySecret(text), key.networkID == network.id, let role = credentials.role(of: key)
        else { return nil }
        return Access(network: network, principal: .apiKey(role), keyID: key.id)
    }

    /// What the network says of a dialect; `nil` when it says nothing.
    package func document(of dialect: DialectName) -> DialectDocument? { credentials.dialects[dialect] }
}

extension VerifiableCredentials {
    /// Passes a body that the network's chat backend has signed.
    func verify(_ signature: SignedBody, _ body: [UInt8], now: Timestamp) throws(Problem) {
        try signature.verify(body, secrets: webhookSecrets(at: now), now: now)
    }
}
