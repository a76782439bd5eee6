/// Why FCM refuses a message: every error code of Google's table, and what surrounds it.
///
/// The raw value is the word that a token begins with to get this.
/// - SeeAlso: "ErrorCode", Firebase's reference of the FCM HTTP v1 API.
package enum FCMRefusal: String, CaseIterable, Sendable {
    /// 404 with `UNREGISTERED`: the app is no longer there.
    case unregistered
    /// 400 with `INVALID_ARGUMENT` about `message.token`.
    case invalidToken = "invalid-token"
    /// 400 with `INVALID_ARGUMENT` about another field.
    case invalidArgument = "invalid-argument"
    /// 400 with `INVALID_ARGUMENT` and no details, as for a message that is too big.
    case tooBig = "too-big"
    /// 403 with `SENDER_ID_MISMATCH`: the token is of another project.
    case senderMismatch = "sender-mismatch"
    /// 401 with `THIRD_PARTY_AUTH_ERROR`: the project has no valid APNs or Web Push key.
    case thirdPartyAuth = "third-party-auth"
    /// 401 without an FCM error: the access token is not valid.
    case unauthenticated
    /// 403 without an FCM error: the service account lacks a role, or the API is off.
    case permissionDenied = "permission-denied"
    /// 404 without an FCM error: there is no such project.
    case notFound = "not-found"
    /// 429 with `QUOTA_EXCEEDED` of the project, and `Retry-After: 60`.
    case quotaProject = "quota-project"
    /// 429 with `QUOTA_EXCEEDED` of the device, without `Retry-After`.
    case quotaDevice = "quota-device"
    /// 500 with `INTERNAL`.
    case `internal`
    /// 503 with `UNAVAILABLE` and `Retry-After: 10`.
    case unavailable
    /// 500 with `UNSPECIFIED_ERROR`.
    case unspecified
    /// 502 with a page of HTML.
    case badGateway = "bad-gateway"
    /// 504 with a page of HTML.
    case gatewayTimeout = "gateway-timeout"

    /// What a token begins with to get this.
    package var tokenPrefix: String { rawValue }
}
