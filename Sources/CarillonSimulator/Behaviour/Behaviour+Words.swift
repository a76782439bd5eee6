import NIOCore

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
