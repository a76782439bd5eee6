/// The JSON documents of the three levels, between what callers write and what is stored.
extension ToggleScope {
    /// Checks a document from outside and fills its defaults in; `updatedAt`, which answers carry, is passed over.
    ///
    /// - Throws: `invalid-toggles` with every place that is wrong: a mistyped switch must not be silently ignored.
    public func checked(_ document: JSONValue) throws(InvalidInput) -> JSONValue {
        let errors = InputErrors()
        let full: JSONValue
        switch self {
        case .network: full = NetworkToggles(reading: document, unknown: .refuse, into: errors).document
        case .user: full = UserToggles(reading: document, unknown: .refuse, into: errors).document
        case .channel: full = ChannelToggles(reading: document, unknown: .refuse, into: errors).document
        }
        try errors.throwIfAny(problem: "invalid-toggles")
        return full
    }

    /// A stored document with its defaults filled in.
    public func completed(_ document: JSONValue) -> JSONValue {
        switch self {
        case .network: NetworkToggles(document: document).document
        case .user: UserToggles(document: document).document
        case .channel: ChannelToggles(document: document).document
        }
    }
}
