/// Waits until something is the case, for as long as `limit`; answers whether it is.
func waits(atMost limit: Duration = .seconds(Int32.max), until condition: () -> Bool) async -> Bool {
    let start = ContinuousClock.now
    while !condition() {
        guard ContinuousClock.now - start < limit, !Task.isCancelled else { return false }
        try? await Task.sleep(for: .milliseconds(10))
    }
    return true
}
