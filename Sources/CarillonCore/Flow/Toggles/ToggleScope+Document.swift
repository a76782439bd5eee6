/// The JSON documents of the three levels, between what callers write and what is stored.
extension ToggleScope {
    /// Checks a document from outside and fills its defaults in; `updatedAt`, which answers carry, is passed over.
    ///
    /// - Throws: `invalid-toggles` with every place that is wrong: a mistyped switch must not be silently ignored.
    package func checked(_ document: JSONValue) throws(InvalidInput) -> JSONValue {
        let errors = InputErrors()
        let full = read(document, into: errors)
        try errors.throwIfAny(problem: "invalid-toggles")
        return full
    }

    /// Refuses a merge patch with members that no document has, among them those that it would only remove.
    ///
    /// - Throws: `invalid-toggles` with every place.
    package func checkMembers(ofPatch patch: JSONValue) throws(InvalidInput) {
        let errors = InputErrors()
        _ = read(patch, into: errors)
        let unknown = errors.errors.filter { $0.detail == JSONObjectReader.unknownMember }
        guard unknown.isEmpty else { throw InvalidInput(problem: "invalid-toggles", errors: unknown) }
    }

    private func read(_ document: JSONValue, into errors: InputErrors) -> JSONValue {
        switch self {
        case .network: NetworkToggles(reading: document, unknown: .refuse, into: errors).document
        case .user: UserToggles(reading: document, unknown: .refuse, into: errors).document
        case .channel: ChannelToggles(reading: document, unknown: .refuse, into: errors).document
        }
    }

    /// A stored document with its defaults filled in.
    package func completed(_ document: JSONValue) -> JSONValue {
        switch self {
        case .network: NetworkToggles(document: document).document
        case .user: UserToggles(document: document).document
        case .channel: ChannelToggles(document: document).document
        }
    }
}
