public import Foundation

/// What an app tells Carillon: which device belongs to its user, and what that user wants to be notified of.
///
/// ```swift
/// let carillon = CarillonClient(url: url, network: "acme") { try await myBackend.userToken() }
/// try await carillon.register(.apns(token: deviceToken, appID: "com.acme.chat", environment: .production), as: installationID)
/// try await carillon.notifications.enable([.chat: .allowed, .social: .forbidden])
/// try await carillon.channel("general").mute(until: .now + 3600)
/// ```
///
/// Copies share the token and the connections; use one for as long as somebody is signed in. Everything that it asks for can be
/// asked for twice, so it tries again by itself what failed in passing: see ``RetryPolicy``. What fails for good throws
/// ``CarillonError``; a task that is cancelled gets `CancellationError`.
///
/// ## Topics
/// ### Devices
/// - ``register(_:as:for:)``
/// - ``unregister(_:)``
/// - ``unregister(_:onlyFor:)``
/// - ``devices()``
/// - ``device(_:)``
/// - ``webPushKey()``
/// ### What the user wants
/// - ``notifications``
/// - ``channel(_:)``
/// - ``tags``
/// ### When somebody else signs in
/// - ``forgetToken()``
public struct CarillonClient: Sendable {
    /// Speaks to the service.
    let requester: Requester

    /// A client of one network.
    ///
    /// - Parameters:
    ///   - url: Where the service is, such as `https://push.example.org`. A path in front of `/v1` is kept.
    ///   - network: The network's id.
    ///   - appKey: The app's own key (role `device`). With one, ``unregister(_:)`` works while nobody is signed in.
    ///   - retries: How often and for how long to try again.
    ///   - transport: Who carries the requests; a session of its own unless given.
    ///   - token: Answers the signed-in user's token, a JWT that your back end signs. It is asked when a token is needed for the
    ///     first time and when the service refuses the last one, once for all calls that wait. On a server it may answer an API
    ///     key as well.
    public init(
        url: URL,
        network: String,
        appKey: String? = nil,
        retries: RetryPolicy = RetryPolicy(),
        transport: (any Transport)? = nil,
        token: @escaping @Sendable () async throws -> String
    ) {
        requester = Requester(
            base: ServiceURL(url, network: network),
            transport: transport ?? URLSessionTransport(),
            userTokens: TokenStore(fetch: token),
            appTokens: appKey.map { key in TokenStore { key } },
            policy: retries
        )
    }

    /// A client with other ways to wait, for tests.
    init(requester: Requester) {
        self.requester = requester
    }

    /// What the signed-in user wants to be notified of, everywhere.
    public var notifications: Notifications { Notifications(requester: requester) }

    /// What the signed-in user subscribes to.
    public var tags: Tags { Tags(requester: requester) }

    /// One channel, as far as it concerns the signed-in user.
    ///
    /// - Parameter id: The channel's id. Nothing is asked yet.
    /// - Returns: The channel.
    public func channel(_ id: String) -> Channel { Channel(id: id, requester: requester) }

    /// Makes the next call ask for a token anew; calls that wait for one, or to try again, end as if they were cancelled.
    ///
    /// Call this when the user signs out. The client does not know whom a token is for, and would go on in their name.
    public func forgetToken() async {
        await requester.userTokens.forget()
    }
}
