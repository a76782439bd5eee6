/// The server has surely not acted on the request: it can be sent again, over another connection.
///
/// Nothing of it was sent, its stream was refused, or it is beyond the last one that a GOAWAY names (RFC 9113 sections
/// 6.8 and 8.7).
struct NotProcessed: Error, Equatable {
    /// What to report when it cannot be sent again.
    var reason: OutboundError
}
