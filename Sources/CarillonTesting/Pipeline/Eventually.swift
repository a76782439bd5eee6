import CarillonCore

/// Asks again and again until there is an answer.
package func eventually<Answer>(_ ask: () async throws -> Answer?) async throws -> Answer {
    let deadline = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < deadline {
        if let answer = try await ask() { return answer }
        try await Task.sleep(for: .milliseconds(2))
    }
    throw TookTooLong()
}

/// What was waited for did not come.
package struct TookTooLong: Error {
    /// The error.
    package init() {}
}

/// The database cannot be asked for now.
package struct StoreAway: TransientError {
    /// Yes.
    package var isTransient: Bool { true }

    /// The error.
    package init() {}
}

extension Result where Failure == any Error {
    /// What a piece of work came to.
    package init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
