package import CarillonCore
import NIOHTTP1
package import PushHTTP

/// Has the access token of each service account, and gets a new one before the old one ends.
///
/// However many deliveries ask at once, one request is under way for an account. A token that still works is handed out
/// while its successor is fetched, so that a slow token endpoint delays nobody. After a failure the endpoint is left
/// alone for a moment.
package actor FCMTokenSource {
    private struct Entry {
        var token: FCMAccessToken?
        var refresh: Task<Result<FCMAccessToken, FCMTokenFailure>, Never>?
        var failure: (reason: FCMTokenFailure, until: Timestamp)?
    }

    /// How long the answer stands that there is no token.
    private static let pause = Duration.seconds(5)
    /// More accounts than these, and the tokens that have ended are forgotten.
    private static let comfortableCount = 1_000

    /// How long a request to a token endpoint may take.
    package nonisolated let timeout: Duration

    private let transport: any HTTPTransport
    private let server: FCMServer
    private let clock: WallClock
    private var entries: [FCMCredential.Account: Entry] = [:]

    /// A source.
    /// - Parameters:
    ///   - transport: Sends the requests.
    ///   - server: Where FCM is; decides which token endpoints are asked.
    ///   - clock: What time it is.
    ///   - timeout: How long a request may take.
    package init(
        transport: any HTTPTransport,
        server: FCMServer = .google,
        clock: WallClock = .system,
        timeout: Duration = .seconds(10)
    ) {
        self.transport = transport
        self.server = server
        self.clock = clock
        self.timeout = timeout
    }

    /// Finds out whether Google takes a service account, by asking for a new access token.
    package func verify(_ credential: FCMCredential) async throws(FCMTokenFailure) {
        _ = try await startRefresh(of: credential).value.get()
    }

    /// Asks again for whom there was no token a moment ago: somebody says that it works now.
    package func forgetFailures() {
        for account in entries.keys { entries[account]?.failure = nil }
    }

    /// A token that works, as far as is known.
    /// - Throws: ``FCMTokenFailure``, or `CancellationError` when the task is cancelled while it waits.
    func token(
        for credential: FCMCredential,
        insteadOf rejected: Secret? = nil
    ) async throws -> FCMAccessToken {
        let now = clock.now()
        let entry = entries[credential.account] ?? Entry()
        let isPaused = entry.failure.map { now < $0.until } ?? false
        if let token = entry.token, token.value != rejected, now < token.expiresAt {
            if now >= token.renewAt, !isPaused { _ = startRefresh(of: credential) }
            return token
        }
        if entry.refresh == nil, isPaused, let failure = entry.failure { throw failure.reason }
        return try await startRefresh(of: credential).sharedResult.get().get()
    }

    /// The refresh that is under way, or a new one.
    ///
    /// A task of its own, since it is shared: that one of those who wait is cancelled must not fail the others.
    private func startRefresh(of credential: FCMCredential) -> Task<Result<FCMAccessToken, FCMTokenFailure>, Never> {
        if let refresh = entries[credential.account]?.refresh { return refresh }
        let refresh = Task {
            let result = await fetch(credential)
            finishRefresh(of: credential.account, result)
            return result
        }
        forgetEnded()
        entries[credential.account, default: Entry()].refresh = refresh
        return refresh
    }

    private func finishRefresh(of account: FCMCredential.Account, _ result: Result<FCMAccessToken, FCMTokenFailure>) {
        switch result {
        case .success(let token):
            entries[account] = Entry(token: token)
        case .failure(let reason):
            entries[account]?.refresh = nil
            entries[account]?.failure = (reason, clock.now() + Self.pause)
        }
    }

    private func forgetEnded() {
        guard entries.count > Self.comfortableCount else { return }
        let now = clock.now()
        entries = entries.filter { $0.value.refresh != nil || $0.value.token.map { now < $0.expiresAt } ?? false }
    }

    /// Signs an assertion and exchanges it; signing takes a millisecond, which is not spent inside the actor.
    @concurrent
    private nonisolated func fetch(_ credential: FCMCredential) async -> Result<FCMAccessToken, FCMTokenFailure> {
        let tokenURI = credential.account.tokenURI
        guard server.permits(tokenURI: tokenURI) else { return .failure(.uriNotPermitted) }
        let now = clock.now()
        guard let assertion = try? FCMAssertion.token(for: credential, now: now) else {
            return .failure(.refused(reason: "private key cannot sign"))
        }
        let request = OutboundRequest(
            url: tokenURI,
            headers: ["content-type": "application/x-www-form-urlencoded"],
            body: FCMAssertion.form(assertion)
        )
        do {
            let response = try await transport.execute(request, timeout: timeout)
            if (200..<300).contains(response.status),
                let token = FCMAccessToken(answer: response.body, requestedAt: now)
            {
                return .success(token)
            }
            return .failure(FCMTokenFailure(response, now: clock.now()))
        } catch let error as OutboundError {
            return .failure(.unavailable(after: nil, reason: "token endpoint: \(error.rawValue)"))
        } catch let refusal as EgressRefusal {
            return .failure(.refused(reason: "token endpoint: \(refusal.rule.rawValue)"))
        } catch {
            return .failure(.unavailable(after: nil, reason: "token endpoint: failed"))
        }
    }
}
