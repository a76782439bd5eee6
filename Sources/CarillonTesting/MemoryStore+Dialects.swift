package import CarillonCore

extension MemoryStore {
    /// A network's documents, in the order of their names.
    package func dialects(of network: NetworkID) async throws -> [DialectDocument] {
        let documents = try withState { state in state.networks[network]?.dialects.values.map(\.self) ?? [] }
        return documents.sorted { $0.name.rawValue < $1.name.rawValue }
    }

    /// A network's document; `nil` when there is none.
    package func dialect(_ name: DialectName, of network: NetworkID) async throws -> DialectDocument? {
        try withState { state in state.networks[network]?.dialects[name] }
    }

    /// Writes what `change` makes of a network's document, or of none.
    package func updateDialect(
        _ name: DialectName,
        of network: NetworkID,
        _ change: @escaping @Sendable (DialectDocument?) throws -> DialectDocument
    ) async throws -> DialectDocument? {
        try withState { state in
            guard let known = state.networks[network] else { return nil }
            let document = try change(known.dialects[name])
            state.networks[network]?.dialects[name] = document
            return document
        }
    }

    /// Removes a network's document; `false` when there is none.
    package func deleteDialect(_ name: DialectName, of network: NetworkID) async throws -> Bool {
        try withState { state in state.networks[network]?.dialects.removeValue(forKey: name) != nil }
    }
}
