/// Why a request is not made: its URL or where it leads breaks a rule.
package struct EgressRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    /// What was broken, in the words that a dead letter shows.
    package enum Rule: String, Sendable, CaseIterable {
        /// It is no URL, or one that two readers could take for different ones.
        case url = "invalid url"
        /// It is not HTTP.
        case scheme = "blocked scheme"
        /// A service that does not speak HTTP listens there.
        case port = "blocked port"
        /// It is, or its name leads to, an address that is not public.
        case address = "blocked address"
    }

    package let rule: Rule
    /// What would be right, without repeating the URL.
    package let detail: String

    init(_ rule: Rule, _ detail: String) {
        self.rule = rule
        self.detail = detail
    }

    package static let address = EgressRefusal(.address, "must lead to public addresses only")

    /// The refusal of `http` where what is sent could be read on its way.
    static let clearText = EgressRefusal(
        .scheme,
        "must start with https://, but for addresses that the operator allows"
    )

    /// The rule and the detail: holds no data of the caller.
    package var description: String { "\(rule.rawValue): \(detail)" }
}
