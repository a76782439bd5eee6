import CarillonCore

extension Base64URL {
    /// The bytes that an encoder of either alphabet wrote, with or without padding; `nil` for anything else.
    static func decodeEither(_ text: some StringProtocol) -> [UInt8]? {
        var characters = text.utf8.map { character in
            switch character {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: character
            }
        }
        while characters.last == UInt8(ascii: "=") { characters.removeLast() }
        return decode(characters)
    }

    /// The text that an encoder of either alphabet wrote; `nil` for anything else.
    static func text(_ encoded: some StringProtocol) -> String? {
        decodeEither(encoded).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
