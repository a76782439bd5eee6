/// JSON Web Tokens (RFC 7519) as they are made: the compact form of RFC 7515 section 3.1.
package enum JSONWebToken {
    /// Joins header and claims with what `sign` makes of both.
    package static func make(
        _ claims: JSONValue,
        header: JSONValue,
        sign: ([UInt8]) throws -> some Sequence<UInt8>
    ) rethrows -> String {
        let signed = Base64URL.encode(header.serialized) + "." + Base64URL.encode(claims.serialized)
        return signed + "." + Base64URL.encode(try sign(Array(signed.utf8)))
    }

    /// The same by a shared secret (HS256).
    package static func make(_ claims: JSONObject, sign: ([UInt8]) -> [UInt8]) -> String {
        make(.object(claims), header: ["alg": "HS256", "typ": "JWT"], sign: sign)
    }
}
