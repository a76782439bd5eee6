import Foundation
import HTTPTypes

/// Asks the service until it has answered, or gives up.
struct Requester: Sendable {
    /// In whose name something is asked.
    enum Caller: Sendable {
        /// The signed-in user.
        case user
        /// The app, where it has a key; the signed-in user otherwise.
        case app
    }

    /// What is asked for. All of it can be done twice.
    struct Call: Sendable {
        var method: HTTPRequest.Method
        var path: [String]
        var query: [(String, String)] = []
        var body: JSON?
        var caller = Caller.user
    }

    let base: ServiceURL
    let transport: any CarillonClient.Transport
    let userTokens: TokenStore
    let appTokens: TokenStore?
    let policy: CarillonClient.RetryPolicy
    var timing = Timing()

    /// Asks for something, and reads the answer.
    func value<Value: Decodable>(_ call: Call, as type: Value.Type = Value.self) async throws -> Value {
        let (response, body) = try await answer(to: call)
        do {
            return try JSONDecoder.carillon.decode(Value.self, from: body)
        } catch {
            throw CarillonError(
                .unexpectedAnswer,
                status: response.status.code,
                requestID: response.headerFields[.requestID],
                underlyingError: error
            )
        }
    }

    /// Asks for something that is answered without words.
    func perform(_ call: Call) async throws {
        _ = try await answer(to: call)
    }

    /// All pages of a list.
    func list<Item: Decodable>(_ path: [String], of type: Item.Type = Item.self) async throws -> [Item] {
        var items: [Item] = []
        var cursor: String?
        repeat {
            let query = [("limit", "1000")] + (cursor.map { [("cursor", $0)] } ?? [])
            let page: Page<Item> = try await value(Call(method: .get, path: path, query: query))
            items += page.items
            cursor = page.next
        } while cursor != nil
        return items
    }

    private func answer(to call: Call) async throws -> (response: HTTPResponse, body: Data) {
        guard let url = base.url(call.path, query: call.query) else { throw CarillonError(.invalidRequest) }
        let body = try call.body?.encoded()
        let tokens = call.caller == .app ? appTokens ?? userTokens : userTokens
        let deadline = timing.now() + policy.deadline
        let session = await tokens.session
        var token = try await Self.token(from: tokens, in: session)
        var isRefreshed = false
        var failures = 0
        while true {
            let left = timing.now().duration(to: deadline)
            let result = try await attempt(request(call.method, url, token, body), body, within: left)
            guard case .failure(let error) = result else { return try result.get() }
            if error.status == 401, !isRefreshed {
                let refused = token
                isRefreshed = true
                token = try await Self.token(from: tokens, insteadOf: refused, in: session)
                if token != refused { continue }
            }
            failures += 1
            guard error.isTransient, failures < policy.maximumAttempts else { throw error }
            let ownWait = policy.wait(afterFailures: failures, jitter: timing.random())
            let wait = max(ownWait, error.retryAfter ?? .zero)
            guard timing.now() + wait < deadline else { throw error }
            try await timing.sleep(wait)
            // Whoever has signed out meanwhile must not do anything more, nor must it be done in another one's name.
            try await tokens.check(session)
        }
    }

    /// Tries once. Throws only when the task is cancelled.
    private func attempt(
        _ request: HTTPRequest,
        _ body: Data?,
        within limit: Duration
    ) async throws -> Result<(response: HTTPResponse, body: Data), CarillonError> {
        try Task.checkCancellation()
        do {
            let timeout = min(limit, policy.attemptTimeout)
            let answer = try await transport.send(request, body: body, timeout: timeout)
            if answer.response.status.kind == .successful { return .success(answer) }
            return .failure(CarillonError(answer.response, answer.body, now: timing.date()))
        } catch {
            // A session says in its own words that the task was cancelled.
            try Task.checkCancellation()
            return .failure(CarillonError(transportError: error))
        }
    }

    private func request(_ method: HTTPRequest.Method, _ url: URL, _ token: String, _ body: Data?) -> HTTPRequest {
        var fields: HTTPFields = [
            .authorization: "Bearer \(token)", .accept: "application/json", .userAgent: "CarillonClient",
        ]
        if body != nil {
            fields[.contentType] = method == .patch ? "application/merge-patch+json" : "application/json"
        }
        return HTTPRequest(method: method, url: url, headerFields: fields)
    }

    private static func token(
        from tokens: TokenStore,
        insteadOf refused: String? = nil,
        in session: Int
    ) async throws -> String {
        do {
            return try await tokens.token(insteadOf: refused, in: session)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw CarillonError(.noToken, underlyingError: error)
        }
    }
}

/// One page of a list.
private struct Page<Item: Decodable>: Decodable {
    let items: [Item]
    let next: String?
}
