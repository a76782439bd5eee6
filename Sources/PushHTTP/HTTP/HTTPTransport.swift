/// Sends one request to a push service and answers what it said.
package protocol HTTPTransport: AnyObject, Sendable {
    /// Sends a request and reads the answer, of whatever status, within `timeout`.
    ///
    /// What was surely not processed is sent again at once; every error that comes out of here means "unknown, or no".
    /// - Throws: ``OutboundError``, `EgressRefusal`, or `CancellationError` when the task was cancelled or the request was
    ///   not wanted any more when its turn came.
    func execute(_ request: OutboundRequest, timeout: Duration) async throws -> OutboundResponse
}
