import Foundation

/// The key that encrypts secrets at rest: 32 bytes, written in base64.
struct MasterKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How many bytes it has.
    static let length = 32

    let bytes: [UInt8]

    /// Reads base64 (RFC 4648 section 4).
    /// - Throws: ``InvalidSetting``, without the value.
    init(_ text: String) throws(InvalidSetting) {
        guard let data = Data(base64Encoded: text), data.count == Self.length else {
            throw InvalidSetting("must be 32 bytes in base64: 44 characters, such as `openssl rand -base64 32` prints")
        }
        bytes = Array(data)
    }

    var description: String { "<redacted>" }
    var debugDescription: String { "<redacted>" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
