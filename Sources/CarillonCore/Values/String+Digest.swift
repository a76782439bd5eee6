import Crypto

extension [String] {
    /// SHA-256 of these texts, each behind its length in bytes, so that no two lists of them share what is hashed.
    package var digest: [UInt8] {
        [UInt8](SHA256.hash(data: [UInt8](map { "\($0.utf8.count):\($0)" }.joined().utf8)))
    }
}
