import Synchronization

/// What has a line of its own, and failures that are counted: an endpoint as it is reached now, so that one that was changed begins anew.
struct InterceptionKey: Hashable {
    let network: NetworkID
    let endpoint: EndpointID
    private let url: String
    private let stateAt: Timestamp

    init(_ endpoint: Endpoint, in network: NetworkID) {
        self.network = network
        self.endpoint = endpoint.id
        url = endpoint.settings.url
        stateAt = endpoint.stateAt
    }
}

/// The questions to endpoints: how many each of them has now, who waits for a slot, and how many failed in a row.
struct InterceptionLines {
    /// What became of somebody in line.
    enum Entry: Sendable, Equatable {
        /// There is a slot, which is given back by ``InterceptionLines/leave(_:isTrial:isFailure:isOpen:)``.
        case entered(isTrial: Bool)
        /// The endpoint is not asked now.
        case refused
        /// There was none in time.
        case late
        case closed
    }

    /// What is said to who comes.
    enum Reception {
        case decided(Entry)
        case inLine(Waiting)
    }

    final class Waiting: Sendable {
        private enum State {
            case new
            case waiting(CheckedContinuation<Entry, Never>)
            case over(Entry)
        }

        fileprivate let number: Int
        fileprivate let size: Int
        private let state = Mutex(State.new)

        fileprivate init(number: Int, size: Int) {
            self.number = number
            self.size = size
        }

        /// What becomes of it; to be asked once.
        func entry() async -> Entry {
            await withCheckedContinuation { continuation in
                let entry: Entry? = state.withLock { state in
                    if case .over(let entry) = state { return entry }
                    state = .waiting(continuation)
                    return nil
                }
                if let entry { continuation.resume(returning: entry) }
            }
        }

        /// Says what becomes of it, once.
        func resume(_ entry: Entry) {
            let continuation: CheckedContinuation<Entry, Never>? = state.withLock { state in
                switch state {
                case .new:
                    state = .over(entry)
                    return nil
                case .waiting(let continuation):
                    state = .over(entry)
                    return continuation
                case .over:
                    return nil
                }
            }
            continuation?.resume(returning: entry)
        }
    }

    private struct Line {
        /// How many failed in a row.
        var failures = 0
        /// Whether one finds out now whether the endpoint works again.
        var isTried = false
        /// How many are asked now.
        var asked = 0
        /// Those in line by their numbers; a number that is missing has left.
        var waiting: [Int: Waiting] = [:]
        var first = 0
        var next = 0
        /// How many bytes wait.
        var size = 0

        var isIdle: Bool { asked == 0 && waiting.isEmpty }

        mutating func append(size: Int) -> Waiting {
            let one = Waiting(number: next, size: size)
            waiting[next] = one
            next += 1
            self.size += size
            return one
        }

        mutating func popFirst() -> Waiting? {
            while first < next {
                defer { first += 1 }
                if let one = waiting.removeValue(forKey: first) {
                    size -= one.size
                    return one
                }
            }
            return nil
        }

        mutating func remove(_ one: Waiting) -> Bool {
            guard waiting.removeValue(forKey: one.number) != nil else { return false }
            size -= one.size
            return true
        }

        mutating func removeAll() -> [Waiting] {
            let all = waiting.sorted { $0.key < $1.key }.map(\.value)
            waiting = [:]
            size = 0
            return all
        }
    }

    /// How many failures in a row it takes for an endpoint not to be asked any more.
    static let tolerance = 10
    /// Of how many endpoints failures are remembered that have none on the way.
    private static let mostIdle = 1_000

    private let slots: Int
    private let longest: (count: Int, bytes: Int)
    private let mostWaiting: Int
    private var lines: [InterceptionKey: Line] = [:]
    /// How many bytes wait in all lines, and in those of each network.
    private var size = 0
    private var sizes: [NetworkID: Int] = [:]
    private var isClosed = false

    /// Lines with so many slots for each endpoint, in each of which so much waits at the most, and in all together, of which no network
    /// has more than half of what the others leave.
    init(slots: Int, longest: (count: Int, bytes: Int), mostWaiting: Int) {
        self.slots = slots
        self.longest = longest
        self.mostWaiting = mostWaiting
    }

    /// Lets somebody in, or puts them into line, or answers why not.
    mutating func enter(_ key: InterceptionKey, size: Int, _ circuit: EndpointCircuit) -> Reception {
        guard !isClosed else { return .decided(.closed) }
        if lines[key] == nil { forgetFormer(of: key) }
        var line = lines[key] ?? Line()
        defer { lines[key] = line }
        switch circuit {
        case .open: return .decided(.refused)
        case .due where line.isTried: return .decided(.refused)
        case .due:
            line.isTried = true
            line.asked += 1
            return .decided(.entered(isTrial: true))
        case .closed: break
        }
        if line.asked < slots {
            line.asked += 1
            return .decided(.entered(isTrial: false))
        }
        let own = sizes[key.network, default: 0]
        guard line.waiting.count < longest.count, line.size + size <= longest.bytes,
            own + size <= (mostWaiting - (self.size - own)) / 2
        else { return .decided(.late) }
        add(size, of: key.network)
        return .inLine(line.append(size: size))
    }

    /// Takes somebody out of line; `false` when they are in it no more.
    mutating func withdraw(_ waiting: Waiting, of key: InterceptionKey) -> Bool {
        guard lines[key]?.remove(waiting) == true else { return false }
        add(-waiting.size, of: key.network)
        return true
    }

    /// Gives a slot back.
    ///
    /// - Parameters:
    ///   - key: The endpoint.
    ///   - isTrial: Whether it was to be found out whether it works again.
    ///   - isFailure: Whether it failed; `nil` when it was not asked.
    ///   - isOpen: Whether it is not asked any more, whoever found that out.
    /// - Returns: Whether too many have failed by now, and who is to be told what.
    mutating func leave(
        _ key: InterceptionKey,
        isTrial: Bool,
        isFailure: Bool?,
        isOpen: Bool
    ) -> (hasFailed: Bool, [(Waiting, Entry)]) {
        guard var line = lines[key] else { return (false, []) }
        line.asked -= 1
        if isTrial { line.isTried = false }
        switch isFailure {
        case true? where !isTrial && !isOpen: line.failures += 1
        case false?: line.failures = 0
        default: break
        }
        let hasFailed = line.failures >= Self.tolerance
        var next: [(Waiting, Entry)] = []
        if isOpen || hasFailed {
            line.failures = 0
            next = line.removeAll().map { ($0, .refused) }
        } else if let first = line.popFirst() {
            line.asked += 1
            next = [(first, .entered(isTrial: false))]
        }
        add(-next.reduce(0) { $0 + $1.0.size }, of: key.network)
        lines[key] = line.isIdle && line.failures == 0 ? nil : line
        if lines.count > Self.mostIdle { lines = lines.filter { !$0.value.isIdle } }
        return (hasFailed, next)
    }

    /// Lets nobody in any more; answers those in line.
    mutating func close() -> [Waiting] {
        isClosed = true
        var all: [Waiting] = []
        for key in lines.keys { all += lines[key]?.removeAll() ?? [] }
        size = 0
        sizes = [:]
        return all
    }

    private mutating func add(_ bytes: Int, of network: NetworkID) {
        size += bytes
        let own = sizes[network, default: 0] + bytes
        sizes[network] = own > 0 ? own : nil
    }

    /// An endpoint that was changed begins anew, and nothing is told of how it was before.
    private mutating func forgetFormer(of key: InterceptionKey) {
        lines = lines.filter { former, line in
            !line.isIdle || former.network != key.network || former.endpoint != key.endpoint
        }
    }
}
