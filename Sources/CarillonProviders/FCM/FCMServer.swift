import CarillonCore
import NIOHTTP1
import PushHTTP

/// Where FCM is, and with it whom our signed assertions may be shown to (`CARILLON_FCM_URL`).
///
/// A service account names the server that turns assertions into access tokens (`token_uri`), and whoever may upload
/// credentials chooses it. So that nobody can make Carillon post to just any server that way, only two are taken:
/// Google's own, and the one that the operator has put in the place of Google's.
package struct FCMServer: Sendable, Hashable {
    package static let google = FCMServer(origin: "https://fcm.googleapis.com")
    /// Where Google exchanges assertions for access tokens: the `token_uri` of the service accounts that it makes.
    package static let googleTokenURI = "https://oauth2.googleapis.com/token"
    /// The `token_uri` that older service accounts have.
    private static let formerGoogleTokenURI = "https://accounts.google.com/o/oauth2/token"

    /// Scheme, host and port, without a slash at the end.
    package let origin: String

    private init(origin: String) {
        self.origin = origin
    }

    /// A server by its URL, such as `https://127.0.0.1:9443` for a simulator.
    ///
    /// `nil` unless it is an `https` URL without path and query. On this machine `http` will do too.
    package init?(url: String) {
        guard let url = try? OutboundURL(url), url.isConfidential, url.target == "/" else { return nil }
        origin = url.origin
    }

    /// Whether an assertion may be sent to a URL.
    package func permits(tokenURI: String) -> Bool {
        if tokenURI == Self.googleTokenURI || tokenURI == Self.formerGoogleTokenURI { return true }
        guard self != .google, let url = try? OutboundURL(tokenURI) else { return false }
        return url.origin == origin
    }

    func sendURL(projectID: String) -> String { "\(origin)/v1/projects/\(projectID)/messages:send" }

    /// The request that sends a message of a project, or has one validated.
    func request(_ body: [UInt8], projectID: String, token: FCMAccessToken) -> OutboundRequest {
        OutboundRequest(
            url: sendURL(projectID: projectID),
            headers: [
                "authorization": token.value.reveal { "Bearer \($0)" }, "content-type": "application/json",
            ],
            body: body
        )
    }
}
