import CarillonCore

/// The fields of a body of type `application/x-www-form-urlencoded`; of several with the same name the first counts. What cannot be
/// stored of what users wrote is left out, as of JSON.
struct FormBody {
    private static let mostFields = 100

    let json: JSONObject

    /// Reads a body; `nil` when it is no UTF-8 or has too many fields.
    init?(_ body: [UInt8]) {
        let pairs = body.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: true)
        guard pairs.count <= Self.mostFields else { return nil }
        var json = JSONObject()
        for pair in pairs {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]), let value = Self.decoded(parts.count == 2 ? parts[1] : []) else {
                return nil
            }
            if json[name] == nil, !value.utf8.contains(0) { json[name] = .string(value) }
        }
        self.json = json
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"):
                decoded.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard rest.count >= 2,
                    let byte = Proof.bytes(hex: String(decoding: rest.prefix(2), as: UTF8.self))?.first
                else { return nil }
                decoded.append(byte)
                rest.removeFirst(2)
            default:
                decoded.append(byte)
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }
}
