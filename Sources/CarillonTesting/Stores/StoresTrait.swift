package import Testing

/// Gives a test, or each test of a suite, all stores on a database of its own: ``StoreScene/here``.
package struct StoresTrait: SuiteTrait, TestTrait, TestScoping {
    /// Each test of the suite, not the suite as a whole.
    package var isRecursive: Bool { true }

    /// Runs a test with stores of its own.
    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await StoreScene.withStores { scene, _ in
            try await StoreScene.$current.withValue(scene) { try await function() }
        }
    }
}

extension Trait where Self == StoresTrait {
    /// All stores on a database of its own for each test.
    package static var stores: StoresTrait { StoresTrait() }
}

extension StoreScene {
    @TaskLocal fileprivate static var current: StoreScene?

    /// The stores of the test that runs: of a suite with the trait `stores`.
    package static var here: StoreScene {
        guard let current else { preconditionFailure("the suite has no stores") }
        return current
    }
}
