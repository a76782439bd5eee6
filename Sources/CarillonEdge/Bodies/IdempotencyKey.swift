package import CarillonCore
import Crypto
package import HTTPTypes
package import Hummingbird

/// The header by which a request that creates can be sent again without creating twice
/// (draft-ietf-httpapi-idempotency-key-header).
package enum IdempotencyKey {
    package static let header = HTTPField.Name.known("idempotency-key")
    /// Says in an answer that it is that of an earlier request.
    package static let replayed = HTTPField.Name.known("idempotency-replayed")

    /// The key of a request; `nil` when it has none.
    ///
    /// - Throws: 400 for more than one and for one that is not 1 to `maximumCount` printable ASCII characters.
    package static func text(_ headers: HTTPFields, upTo maximumCount: Int = 255) throws(Problem) -> String? {
        let values = headers[values: header]
        guard values.count <= 1 else { throw .invalidIdempotencyKey(upTo: maximumCount) }
        return try checked(values.first, upTo: maximumCount)
    }

    /// A key as it stands in the header; `nil` for none.
    ///
    /// - Throws: 400 for one that is not 1 to `maximumCount` printable ASCII characters.
    package static func checked(_ value: String?, upTo maximumCount: Int) throws(Problem) -> String? {
        guard let value else { return nil }
        guard (1...maximumCount).contains(value.utf8.count), value.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { throw .invalidIdempotencyKey(upTo: maximumCount) }
        return value
    }
}

extension IdempotentRequest {
    /// A request as it is recognised again; `nil` when it has no key. What others send with the same key is another request; a body in
    /// another layout is the same. There is no network where one is made.
    /// - Throws: 400 for a key that is none.
    package init?(
        _ request: Request,
        by admin: Admin,
        in networkID: NetworkID?,
        body: JSONValue?,
        answer: JSONValue
    ) throws(Problem) {
        guard let key = try IdempotencyKey.text(request.headers) else { return nil }
        self.init(
            networkID: networkID,
            keyHash: [admin.description, request.uri.path, key].digest,
            bodyHash: Array(SHA256.hash(data: body?.serialized ?? [])),
            answer: answer.serialized
        )
    }
}

extension Creation {
    /// The answer to a request that creates; `nil` when it was not carried out.
    package func response(_ answer: JSONValue) -> Response? {
        switch self {
        case .created: .json(answer, status: .created)
        case .repeated(let former): .written(former, status: .created, headers: [IdempotencyKey.replayed: "true"])
        case .refused, .beingDeleted: nil
        }
    }
}
