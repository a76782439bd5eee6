public import Foundation
public import HTTPTypes
import HTTPTypesFoundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension CarillonClient {
    /// A transport by `URLSession`.
    ///
    /// Its session keeps no cookies, no cache and no credentials on disk.
    public final class URLSessionTransport: Transport {
        private let session: URLSession

        /// A transport with a session of its own.
        ///
        /// - Parameter configuration: How the session behaves, for those who need a proxy or a certificate of their own.
        public init(configuration: URLSessionConfiguration = .ephemeral) {
            session = URLSession(configuration: configuration, delegate: RedirectRefusal(), delegateQueue: nil)
        }

        deinit {
            session.finishTasksAndInvalidate()
        }

        /// Sends a request once, by this session.
        ///
        /// - Parameters:
        ///   - request: The request.
        ///   - body: Its body.
        ///   - timeout: How long it may take.
        /// - Returns: The answer.
        /// - Throws: `URLError`.
        public func send(
            _ request: HTTPRequest,
            body: Data?,
            timeout: Duration
        ) async throws -> (response: HTTPResponse, body: Data) {
            guard var urlRequest = URLRequest(httpRequest: request) else { throw URLError(.badURL) }
            urlRequest.httpBody = body
            let prepared = urlRequest
            return try await withThrowingTaskGroup(of: (HTTPResponse, Data).self) { group in
                group.addTask { [session] in
                    let (data, response) = try await session.data(for: prepared)
                    guard let answer = (response as? HTTPURLResponse)?.httpResponse else {
                        throw URLError(.badServerResponse)
                    }
                    return (answer, data)
                }
                // The request's own time-out begins anew with each byte that arrives.
                group.addTask {
                    try await Task.sleep(for: timeout)
                    throw URLError(.timedOut)
                }
                defer { group.cancelAll() }
                guard let first = try await group.next() else { throw CancellationError() }
                return first
            }
        }
    }
}

/// Takes a redirect as the answer, so that nobody else is sent the user's token.
private final class RedirectRefusal: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
