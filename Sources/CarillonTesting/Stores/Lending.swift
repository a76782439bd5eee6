package import Testing

/// Lends a value to a test, or to each test of a suite, which finds it with ``lent(_:)``.
package struct Lending<Value: Sendable>: SuiteTrait, TestTrait, TestScoping {
    private let lend: @Sendable (_ test: @Sendable (Value) async throws -> Void) async throws -> Void

    /// A value that `lend` has for as long as its argument runs.
    package init(_ lend: @escaping @Sendable (_ test: @Sendable (Value) async throws -> Void) async throws -> Void) {
        self.lend = lend
    }

    /// Each test of the suite, not the suite as a whole.
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await lend { value in
            try await Lent.$values.withValue(Lent.values + [value]) { try await function() }
        }
    }
}

private enum Lent {
    @TaskLocal static var values: [any Sendable] = []
}

/// The value of a type that the test which runs is lent.
package func lent<Value>(_ type: Value.Type = Value.self) -> Value {
    guard let value = Lent.values.last(where: { $0 is Value }) as? Value else {
        preconditionFailure("nobody lends the test a \(type)")
    }
    return value
}
