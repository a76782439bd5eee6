import DequeModule

/// A queue that serves its keys in turn, so that one that holds much does not keep the others waiting.
struct FairQueue<Key: Hashable, Element> {
    private var waiting: [Key: Deque<Element>] = [:]
    private var turns: Deque<Key> = []

    /// How many elements wait, of all keys.
    private(set) var count = 0

    /// Whether nothing waits.
    var isEmpty: Bool { count == 0 }

    /// How many elements of a key wait.
    func count(of key: Key) -> Int { waiting[key]?.count ?? 0 }

    /// Adds an element behind the others of its key.
    mutating func append(_ element: Element, for key: Key) {
        if waiting[key, default: []].isEmpty { turns.append(key) }
        waiting[key, default: []].append(element)
        count += 1
    }

    /// Takes the next element of the key whose turn it is.
    mutating func popFirst() -> Element? {
        guard let key = turns.popFirst() else { return nil }
        guard let element = waiting[key]?.popFirst() else { return nil }
        if waiting[key]?.isEmpty == false { turns.append(key) } else { waiting[key] = nil }
        count -= 1
        return element
    }

    /// Takes up to `limit` elements in turn.
    mutating func popFirst(_ limit: Int) -> [Element] {
        var elements: [Element] = []
        while elements.count < limit, let element = popFirst() { elements.append(element) }
        return elements
    }

    /// All that waits, in no particular order.
    var elements: [Element] { waiting.values.flatMap { $0 } }
}
