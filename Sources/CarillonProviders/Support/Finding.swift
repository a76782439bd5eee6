import CarillonCore

/// What the answer to one device means, as far as can be told from it alone.
enum Finding: Sendable, Equatable {
    /// It means this.
    case certain(Outcome)
    /// A refusal that is about the device if it comes again although our credential works for others, and about the
    /// credential if it works for nobody; `unclear` while that is not known.
    case refusal(ofDevice: Outcome, ofLane: Outcome, unclear: Outcome)
    /// A refusal of all devices of one kind, such as those of an environment. The others of the lane go on, unless
    /// nothing at all goes through.
    case partial(ofKind: Outcome, ofLane: Outcome)
    /// No more messages for now: for this device or, when answer after answer says so, for the whole lane.
    case limit(ofDevice: Outcome, ofLane: Outcome)
}
