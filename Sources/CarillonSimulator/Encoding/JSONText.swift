import Foundation

/// JSON objects as Foundation has them.
enum JSONText {
    typealias Object = [String: Any]

    /// `nil` for anything but an object.
    static func object(_ bytes: [UInt8]) -> Object? {
        (try? JSONSerialization.jsonObject(with: Data(bytes))) as? Object
    }

    /// The text of an object, with its members in alphabetical order.
    static func text(_ object: Object) -> String {
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? JSONSerialization.data(withJSONObject: object, options: options) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }
}
