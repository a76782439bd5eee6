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
        type.init(document, unknown: .refuse, into: errors).document
    }

    /// A stored document with its defaults filled in.
    package func completed(_ document: JSONValue) -> JSONValue { type.init(document: document).document }

    private var type: any ToggleDocument.Type {
        switch self {
        case .network: NetworkToggles.self
        case .user: UserToggles.self
        case .channel: ChannelToggles.self
        }
    }
}

/// The switches of one level as JSON.
package protocol ToggleDocument {
    /// Reads the members of a document, noting what is wrong with them; those that are left out allow.
    init(reading reader: inout JSONObjectReader)
    /// The full document, defaults filled in.
    var document: JSONValue { get }
}

extension ToggleDocument {
    fileprivate init(_ document: JSONValue, unknown: JSONObjectReader.UnknownMembers, into errors: InputErrors) {
        var reader = JSONObjectReader(document, unknown: unknown, into: errors)
        self.init(reading: &reader)
        // Answers carry it.
        _ = reader.value("updatedAt")
        reader.finish()
    }

    /// Reads a stored document; what it does not know is passed over.
    package init(document: JSONValue) {
        self.init(document, unknown: .tolerate, into: InputErrors())
    }
}
