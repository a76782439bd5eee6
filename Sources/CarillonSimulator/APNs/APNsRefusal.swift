/// An answer of APNs that is not 200.
struct APNsRefusal: Error {
    var reason: APNsReason
    /// Since when the token is not valid; only with 410.
    var since: Duration?

    init(_ reason: APNsReason, since: Duration? = nil) {
        self.reason = reason
        self.since = since
    }

    func answer(id: String) -> Answer {
        let timestamp = since.map { #","timestamp":\#($0.wholeMilliseconds)"# } ?? ""
        return Answer(
            reason.status,
            headers: [("apns-id", id)],
            json: #"{"reason":"\#(reason.rawValue)"\#(timestamp)}"#
        )
    }
}
