/// Members in a ring, each with a load: the next one whose load is small enough has its turn, and those before it are passed
/// over, as if they had had theirs.
///
/// Thousands may have to wait while a few have turns, so the ring is not walked over: it is a tree in the order of turns,
/// balanced by priorities as good as random (a treap), of which each part knows its smallest load. Everything takes a number
/// of steps that grows with the logarithm of the members.
struct RoundRobin<Member: Sendable, Load: Comparable & Sendable>: Sendable {
    /// Where a member is, for as long as it is there.
    struct Position: Sendable, Equatable {
        fileprivate var node: Int
    }

    private struct Node {
        var member: Member
        var load: Load
        /// The smallest load of this node and those below it.
        var least: Load
        let priority: UInt64
        var parent: Int?
        var left: Int?
        var right: Int?
    }

    private var nodes: [Node] = []
    private var unused: [Int] = []
    private var root: Int?
    private var priorities = SplitMix(state: 0)

    var leastLoad: Load? { root.map { nodes[$0].least } }

    mutating func append(_ member: Member, load: Load) -> Position {
        let node = Node(member: member, load: load, least: load, priority: priorities.next())
        let index: Int
        if let free = unused.popLast() {
            nodes[free] = node
            index = free
        } else {
            index = nodes.count
            nodes.append(node)
        }
        setRoot(joined(root, index))
        return Position(node: index)
    }

    mutating func setLoad(_ load: Load, at position: Position) {
        nodes[position.node].load = load
        var next: Int? = position.node
        while let index = next {
            refresh(index)
            next = nodes[index].parent
        }
    }

    /// The next member with at most this load.
    func first(withLoad limit: Load) -> Member? {
        guard var index = root, nodes[index].least <= limit else { return nil }
        while true {
            if let left = nodes[index].left, nodes[left].least <= limit {
                index = left
            } else if nodes[index].load > limit, let right = nodes[index].right {
                index = right
            } else {
                return nodes[index].member
            }
        }
    }

    /// A member has had its turn: it goes behind all others, and before it those that were passed over.
    mutating func advance(past position: Position) {
        let (front, back) = split(before: position.node)
        let (own, rest) = splitFirst(back)
        setRoot(joined(joined(rest, front), own))
    }

    mutating func remove(_ position: Position) {
        let (front, back) = split(before: position.node)
        let (own, rest) = splitFirst(back)
        setRoot(joined(front, rest))
        unused.append(own)
    }

    mutating func removeAll() {
        nodes = []
        unused = []
        root = nil
    }
}

// MARK: - The tree

extension RoundRobin {
    private mutating func setRoot(_ index: Int?) {
        root = index
        if let index { nodes[index].parent = nil }
    }

    private mutating func setLeft(_ child: Int?, of index: Int) {
        nodes[index].left = child
        if let child { nodes[child].parent = index }
        refresh(index)
    }

    private mutating func setRight(_ child: Int?, of index: Int) {
        nodes[index].right = child
        if let child { nodes[child].parent = index }
        refresh(index)
    }

    private mutating func refresh(_ index: Int) {
        var least = nodes[index].load
        if let left = nodes[index].left { least = min(least, nodes[left].least) }
        if let right = nodes[index].right { least = min(least, nodes[right].least) }
        nodes[index].least = least
    }

    private mutating func joined(_ front: Int?, _ back: Int?) -> Int? {
        guard let front, let back else { return front ?? back }
        if nodes[front].priority > nodes[back].priority {
            setRight(joined(nodes[front].right, back), of: front)
            return front
        }
        setLeft(joined(front, nodes[back].left), of: back)
        return back
    }

    /// Parts the ring before a node, from there upwards.
    private mutating func split(before index: Int) -> (front: Int?, back: Int) {
        var front = nodes[index].left
        var back = index
        var (child, next) = (index, nodes[index].parent)
        setLeft(nil, of: index)
        while let parent = next {
            next = nodes[parent].parent
            if nodes[parent].left == child {
                setLeft(back, of: parent)
                back = parent
            } else {
                setRight(front, of: parent)
                front = parent
            }
            child = parent
        }
        return (front, back)
    }

    private mutating func splitFirst(_ index: Int) -> (first: Int, rest: Int?) {
        guard let left = nodes[index].left else {
            let rest = nodes[index].right
            setRight(nil, of: index)
            return (index, rest)
        }
        let (first, rest) = splitFirst(left)
        setLeft(rest, of: index)
        return (first, index)
    }
}
