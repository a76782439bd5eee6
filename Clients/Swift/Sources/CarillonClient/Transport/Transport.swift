public import Foundation
public import HTTPTypes

extension CarillonClient {
    /// Carries one request to the service and its answer back.
    ///
    /// There is one for `URLSession`; tests bring another.
    public protocol Transport: Sendable {
        /// Sends a request once.
        ///
        /// It follows no redirect: the request carries the user's token. It ends when the task is cancelled.
        ///
        /// - Parameters:
        ///   - request: The request.
        ///   - body: Its body.
        ///   - timeout: How long it may take from the beginning to the last byte of the answer.
        /// - Returns: The answer, whatever its status.
        /// - Throws: When there is none.
        func send(
            _ request: HTTPRequest,
            body: Data?,
            timeout: Duration
        ) async throws -> (response: HTTPResponse, body: Data)
    }
}
