import Testing

/// Looks again and again until a condition holds; fails when it does not within 20 seconds.
func eventually(
    _ comment: Comment,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + .seconds(20)
    while try await !condition() {
        try #require(ContinuousClock.now < deadline, comment, sourceLocation: sourceLocation)
        try await Task.sleep(for: .milliseconds(2))
    }
}
