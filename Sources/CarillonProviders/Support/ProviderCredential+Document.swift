import CarillonCore

extension ProviderCredential {
    /// What it is made of; `null` when that is no JSON.
    var document: JSONValue { material.reveal { try? JSONValue(parsing: $0) } ?? .null }
}
