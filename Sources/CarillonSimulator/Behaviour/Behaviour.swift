import NIOCore

/// What a device's token asks the simulator to do.
struct Behaviour<Refusal> {
    enum Outcome {
        /// An answer that the service documents.
        case refusal(Refusal)
        /// An answer with a status and reason that nobody has documented.
        case unknown(status: Int)
        case fault(Fault)
    }

    var delay = TimeAmount.zero
    /// Whether this holds for the first request to the token only.
    var isOnce = false
    /// `nil` accepts.
    var outcome: Outcome?
}
