/// What a pool is doing at one moment.
public struct PoolStatistics: Sendable, Hashable {
    /// How many connections are open.
    public var size: Int
    /// How many of them nobody uses.
    public var idle: Int
    /// How many connections are being opened.
    public var opening: Int
    /// How many callers wait for a connection.
    public var waiting: Int
    /// How many connections are in use.
    public var leased: Int { size - idle }
}
