/// What a NOTIFY carries.
public struct PostgresNotification: Sendable, Hashable {
    /// The channel it was sent on.
    public let channel: String
    /// The text that came with it, less than 8000 bytes.
    public let payload: String
}
