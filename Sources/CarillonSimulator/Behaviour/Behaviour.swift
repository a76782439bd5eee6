import NIOCore

/// What a device's token asks the simulator to do.
struct Behaviour<Refusal> {
    enum Outcome {
        /// An answer that the service documents.
        case refusal(Refusal)
        /// An answer with a status and reason that nobody has documented.
        case unknown(status: Int)
        case fault(Fault)
    }

    var delay = TimeAmount.zero
    /// Whether this holds for the first request to the token only.
    var isOnce = false
    /// `nil` accepts.
    var outcome: Outcome?
}

extension Behaviour where Refusal: RawRepresentable & CaseIterable, Refusal.RawValue == String {
    /// Reads the words that a token begins with: `after-50ms-`, `once-`, then an error, a fault or `status-418-`.
    init(words token: some StringProtocol) {
        var rest = token[...]
        while true {
            if let delay = rest.dropWord("after-", upTo: "ms") {
                self.delay = .milliseconds(Int64(delay))
            } else if let remainder = rest.dropping(word: "once") {
                isOnce = true
                rest = remainder
            } else {
                break
            }
        }
        if let status = rest.dropWord("status-", upTo: "") {
            outcome = .unknown(status: status)
        } else if let refusal = Refusal.allCases.longestMatch(rest) {
            outcome = .refusal(refusal)
        } else if let fault = Fault.allCases.longestMatch(rest) {
            outcome = .fault(fault)
        }
    }
}

extension Collection where Element: RawRepresentable, Element.RawValue == String {
    /// The case with the longest name that a token begins with, such as `quota-device` before `quota`.
    fileprivate func longestMatch(_ token: some StringProtocol) -> Element? {
        filter { token.dropping(word: $0.rawValue) != nil }.max { $0.rawValue.utf8.count < $1.rawValue.utf8.count }
    }
}

extension StringProtocol {
    /// What follows a word and its hyphen.
    fileprivate func dropping(word: String) -> SubSequence? {
        guard hasPrefix(word) else { return nil }
        let rest = dropFirst(word.count)
        guard let next = rest.first else { return rest }
        return next == "-" ? rest.dropFirst() : nil
    }
}

extension StringProtocol where SubSequence == Self {
    /// Removes a name with a number of at most five digits, such as `after-50ms-`, and answers the number.
    fileprivate mutating func dropWord(_ name: String, upTo unit: String) -> Int? {
        guard hasPrefix(name) else { return nil }
        let rest = dropFirst(name.count)
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int(digits), digits.count <= 5 else { return nil }
        guard let remainder = rest.dropFirst(digits.count).dropping(word: unit) else { return nil }
        self = remainder
        return number
    }
}

/// Device tokens for the simulator: what they begin with says what happens to them.
package enum SimulatedToken {
    /// What an APNs token begins with that only the sandbox knows.
    package static let sandboxOnlyPrefix = "5adb0c"
    /// What an APNs token begins with that only production knows.
    package static let productionOnlyPrefix = "940d0c"

    /// A new APNs token of 64 hexadecimal digits.
    ///
    /// It begins with `prefix`, such as ``APNsReason/tokenPrefix``; without one the device is there.
    package static func apns(_ prefix: String = "") -> String {
        // No marker begins with 1.
        let start = prefix.isEmpty ? "1" : prefix
        let digits = Array("0123456789abcdef")
        return start + String((0..<max(0, 64 - start.count)).compactMap { _ in digits.randomElement() })
    }

    /// A new FCM token.
    ///
    /// It begins with `prefix`, such as `unregistered`; without one the device is there.
    package static func fcm(_ prefix: String = "") -> String {
        (prefix.isEmpty ? "device" : prefix) + "-\(random()):APA91b\(random())\(random())"
    }

    /// What makes names different: 22 characters of base64url.
    static func random() -> String {
        Base64URL.encode((0..<16).map { _ in UInt8.random(in: 0...255) })
    }
}
