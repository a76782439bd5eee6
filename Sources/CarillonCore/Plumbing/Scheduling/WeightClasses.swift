/// Members by what they weigh, in classes of which each begins with twice the weight of the one before: to find the few
/// heavy ones, the many light ones are not looked at.
struct WeightClasses<Member: Hashable & Sendable>: Sendable {
    /// By the number of digits that a weight has as a binary number; who weighs nothing is in none.
    private var classes = [Set<Member>](repeating: [], count: Int.bitWidth)

    private static func digits(of weight: Int) -> Int { Int.bitWidth - max(0, weight).leadingZeroBitCount }

    /// Notes that what a member weighs has changed.
    mutating func move(_ member: Member, from before: Int, to after: Int) {
        let (old, new) = (Self.digits(of: before), Self.digits(of: after))
        guard old != new else { return }
        if old > 0 { classes[old].remove(member) }
        if new > 0 { classes[new].insert(member) }
    }

    /// All that are heavier, with others that weigh at least half of it.
    func members(aboutOrAbove weight: Int) -> [Member] {
        classes[Self.digits(of: weight)...].flatMap(\.self)
    }
}
