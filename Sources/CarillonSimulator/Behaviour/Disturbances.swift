/// How a service misbehaves towards everybody, whatever the device.
public struct Disturbances: Sendable {
    /// What the next requests are answered, whatever they ask.
    public struct Storm: Sendable {
        /// How many requests are still answered so.
        public var remaining: Int
        /// The status, such as 429 or 503.
        public var status: Int
        /// The value of `Retry-After`; `nil` leaves the header out.
        public var retryAfter: String?

        /// The next `remaining` requests are answered `status`.
        public init(next remaining: Int, status: Int = 429, retryAfter: String? = nil) {
            self.remaining = remaining
            self.status = status
            self.retryAfter = retryAfter
        }
    }

    /// How long every answer waits.
    public var delay = Duration.zero
    /// Whether requests are read and never answered.
    public var isSilent = false
    /// What the next requests are answered, whatever they ask.
    public var storm: Storm?
    /// After how many streams a connection gets GOAWAY. The streams up to that one are answered.
    public var goAwayAfterStreams: Int?
    /// Every so manieth request is refused unread (REFUSED_STREAM); 1 refuses all.
    public var refusesEvery: Int?

    /// None.
    public init() {}
}
