import CarillonCore
package import Testing

/// Asks again and again until there is an answer; fails when there is none in time.
package func eventually<Answer>(
    _ what: String = "it",
    sourceLocation: SourceLocation = #_sourceLocation,
    _ ask: () async throws -> Answer?
) async throws -> Answer {
    let deadline = ContinuousClock.now + .seconds(30)
    while true {
        if let answer = try await ask() { return answer }
        try #require(ContinuousClock.now < deadline, "\(what) did not come in time", sourceLocation: sourceLocation)
        try await Task.sleep(for: .milliseconds(2))
    }
}

/// Looks again and again until a condition holds; fails when it does not in time.
package func eventually(
    _ what: String = "it",
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async throws {
    _ = try await eventually(what, sourceLocation: sourceLocation) { try await condition() ? true : nil }
}

/// The database cannot be asked for now.
package struct StoreAway: TransientError {
    package var isTransient: Bool { true }

    package init() {}
}

extension Result where Failure == any Error {
    package init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
