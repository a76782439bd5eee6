import Synchronization

/// Networks' templates, all of one or those of one kind, compiled once for each content: reading them is cheap, compiling them is not.
package final class OverrideCache<Key: Sendable & Hashable, Stored: Sendable & Equatable>: Sendable {
    private let capacity: Int
    private let compile: @Sendable (Stored) -> CompiledTemplate?
    private let compiled = Mutex<[Key: (templates: [Stored], overrides: TemplateOverrides)]>([:])

    /// - Parameters:
    ///   - capacity: How many keys it remembers.
    ///   - compile: Compiles a template as it is stored; `nil` when it no longer compiles: the built-in one is used then.
    package init(capacity: Int = 1_000, compile: @escaping @Sendable (Stored) -> CompiledTemplate?) {
        self.capacity = capacity
        self.compile = compile
    }

    /// Those of a key, which has these and no others.
    package func overrides(of key: Key, _ templates: [Stored]) -> TemplateOverrides {
        guard !templates.isEmpty else { return TemplateOverrides() }
        let known = compiled.withLock { $0[key] }
        if let known, known.templates == templates { return known.overrides }
        let overrides = TemplateOverrides(templates.compactMap(compile))
        compiled.withLock { compiled in
            if compiled.count >= capacity { compiled.removeAll() }
            compiled[key] = (templates, overrides)
        }
        return overrides
    }
}
