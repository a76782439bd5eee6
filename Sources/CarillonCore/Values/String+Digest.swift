import Crypto

extension [String] {
    /// SHA-256 of these texts, each behind its length in bytes, so that no two lists of them share what is hashed.
    package var digest: [UInt8] { Array(SHA256.hash(data: Array(map { "\($0.utf8.count):\($0)" }.joined().utf8))) }
}
