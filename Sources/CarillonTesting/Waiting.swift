/// Waits until something is so, which is looked at every millisecond.
///
/// A loop that only yields would take a core from what it waits for, and go on after the time limit of its test.
///
/// - Throws: `CancellationError` when the task is cancelled, as by a time limit.
package func waitUntil(_ condition: () -> Bool) async throws {
    while !condition() { try await Task.sleep(for: .milliseconds(1)) }
}

package func waitUntilCancelled() async { while !Task.isCancelled { try? await Task.sleep(for: .seconds(3_600)) } }
