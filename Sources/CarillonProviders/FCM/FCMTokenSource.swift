package import CarillonCore
import NIOHTTP1
package import PushHTTP

/// Has the access token of each service account, and gets a new one before the old one ends.
///
/// However many deliveries ask at once, one request is under way for an account. A token that still works is handed out
/// while its successor is fetched, so that a slow token endpoint delays nobody. After a failure the endpoint is left
/// alone for a moment.
package final class FCMTokenSource: Sendable {
    /// How long the answer stands that there is no token.
    private static let pause = Duration.seconds(5)
    /// Tokens of more accounts than these are not remembered.
    private static let mostAccounts = 10_000

    /// How long a request to a token endpoint may take.
    package let timeout: Duration
    private let transport: any HTTPTransport
    private let server: FCMServer
    private let clock: WallClock
    private let known = Remembered<FCMCredential.Account, FCMAccessToken>(
        capacity: FCMTokenSource.mostAccounts
    ) { _, readAt in
        readAt + FCMAccessToken.longestLifetime
    }
    /// Why there was no token a moment ago, so that nobody asks again.
    private let failures: Remembered<FCMCredential.Account, FCMTokenFailure>
    private let moment: @Sendable () -> ContinuousClock.Instant

    /// A source that asks those token endpoints that go with `server`; `moment` measures how long ago one has failed.
    package init(
        transport: any HTTPTransport,
        server: FCMServer = .google,
        clock: WallClock = .system,
        moment: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        timeout: Duration = .seconds(10)
    ) {
        self.transport = transport
        self.server = server
        self.clock = clock
        self.moment = moment
        failures = Remembered(capacity: Self.mostAccounts, now: moment) { _, failedAt in failedAt + Self.pause }
        self.timeout = timeout
    }

    /// Asks again for whom there was no token a moment ago: somebody says that it works now.
    package func forgetFailures() { failures.forget(nil) }

    /// A token that works, as far as is known.
    /// - Throws: ``FCMTokenFailure``, or `CancellationError` when the task is cancelled while it waits.
    func token(for credential: FCMCredential, insteadOf rejected: Secret? = nil) async throws -> FCMAccessToken {
        let (account, now) = (credential.account, clock.now())
        if let token = known.last(account), token.value != rejected, now < token.expiresAt {
            if now >= token.renewAt, !known.isReading(account), failures.remembered(account) == nil {
                // The old one does until then.
                Task { _ = try? await read(credential) { now < $0.renewAt } }
            }
            return token
        }
        return try await read(credential) { $0.value != rejected && now < $0.expiresAt }
    }

    private func read(
        _ credential: FCMCredential,
        unless isGood: (FCMAccessToken) -> Bool
    ) async throws -> FCMAccessToken {
        let account = credential.account
        return try await known.value(of: account, while: isGood) {
            if let failure = self.failures.remembered(account) { throw failure }
            do throws(FCMTokenFailure) {
                return try await self.fetch(credential)
            } catch {
                self.failures.keep(error, as: account, readAt: self.moment())
                throw error
            }
        }
    }

    /// Signs an assertion and exchanges it for a new token, whatever is known.
    func fetch(_ credential: FCMCredential) async throws(FCMTokenFailure) -> FCMAccessToken {
        let tokenURI = credential.account.tokenURI
        guard server.permits(tokenURI: tokenURI) else { throw .uriNotPermitted }
        let now = clock.now()
        guard let assertion = try? FCMAssertion.token(for: credential, now: now) else {
            throw .refused(reason: "private key cannot sign")
        }
        let request = OutboundRequest(
            url: tokenURI,
            headers: ["content-type": "application/x-www-form-urlencoded"],
            body: FCMAssertion.form(assertion)
        )
        let response: OutboundResponse
        do {
            response = try await transport.execute(request, timeout: timeout)
        } catch {
            let reason = "token endpoint: \(OutboundError.reason(for: error))"
            throw error is EgressRefusal ? .refused(reason: reason) : .unavailable(after: nil, reason: reason)
        }
        guard (200..<300).contains(response.status),
            let token = FCMAccessToken(answer: response.body, requestedAt: now)
        else { throw FCMTokenFailure(response, now: clock.now()) }
        return token
    }
}
