import CarillonCore

/// The secrets of one endpoint, the newest first, as they are sealed: `[[secret, milliseconds since 1970 of its end], …]`.
struct EndpointSecrets: Sendable {
    private(set) var records: [WebhookSecretRecord]

    /// Those of an endpoint that has just been made.
    init(_ secret: WebhookSecret) {
        records = [WebhookSecretRecord(secret: secret)]
    }

    init(
        opening sealed: [UInt8],
        _ box: SecretBox,
        of endpoint: EndpointID,
        in network: NetworkID
    ) throws(StoreError) {
        let bytes = try box.open(sealed, for: .endpointSecrets(of: endpoint), in: network)
        guard case .array(let pairs)? = try? JSONValue(parsing: bytes) else { throw .unreadable("endpoint's secret") }
        records = []
        for pair in pairs {
            guard case .array(let fields) = pair, fields.count == 2,
                let secret = fields[0].text.flatMap(WebhookSecret.init)
            else { throw .unreadable("endpoint's secret") }
            let end = fields[1].wholeNumber.map { Timestamp(milliseconds: Int64($0)) }
            records.append(WebhookSecretRecord(secret: secret, expiresAt: end))
        }
    }

    /// What signs at a moment, the newest first.
    func valid(at now: Timestamp) -> [WebhookSecret] {
        records.filter { $0.expiresAt.map { now < $0 } ?? true }.map(\.secret)
    }

    /// Puts a secret first; the former ones end after the overlap, unless they end sooner, and the oldest when there are too
    /// many.
    mutating func rotate(to secret: WebhookSecret, overlap: Duration, at now: Timestamp) {
        let end = now + overlap
        for index in records.indices { records[index].expiresAt = min(records[index].expiresAt ?? end, end) }
        let former = records.filter { $0.expiresAt.map { now < $0 } ?? true }
        records =
            [WebhookSecretRecord(secret: secret)] + former.prefix(WebhookSignature.maximumSignedSecretCount - 1)
    }

    func sealed(_ box: SecretBox, of endpoint: EndpointID, in network: NetworkID) throws -> [UInt8] {
        let pairs = records.map { record -> JSONValue in
            let end = record.expiresAt.map { JSONValue.number(JSONNumber(Int($0.milliseconds))) }
            return [.string(record.secret.text.reveal { $0 }), end ?? .null]
        }
        return try box.seal(JSONValue.array(pairs).serialized, for: .endpointSecrets(of: endpoint), in: network)
    }
}

extension SecretBox.Purpose {
    fileprivate static func endpointSecrets(of endpoint: EndpointID) -> Self {
        Self(rawValue: "endpoint-secrets/\(endpoint.rawValue)")
    }
}
