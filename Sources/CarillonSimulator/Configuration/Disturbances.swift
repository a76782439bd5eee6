/// How a service misbehaves towards everybody, whatever the device.
package struct Disturbances: Sendable {
    /// What the next requests are answered, whatever they ask.
    package struct Storm: Sendable {
        /// How many requests are still answered so.
        package var remaining: Int
        /// The status, such as 429 or 503.
        package var status: Int
        /// The value of `Retry-After`; `nil` leaves the header out.
        package var retryAfter: String?

        package init(next remaining: Int, status: Int = 429, retryAfter: String? = nil) {
            self.remaining = remaining
            self.status = status
            self.retryAfter = retryAfter
        }
    }

    /// How long every answer waits.
    package var delay = Duration.zero
    /// Whether requests are read and never answered.
    package var isSilent = false
    package var storm: Storm?
    /// After how many streams a connection gets GOAWAY. The streams up to that one are answered.
    package var goAwayAfterStreams: Int?
    /// Every so manieth request is refused unread (REFUSED_STREAM); 1 refuses all.
    package var refusesEvery: Int?

    package init() {}
}
