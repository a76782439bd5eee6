import DequeModule

/// Requests that wait for a batch: tenants take turns, each one's requests keep their order.
struct WaitingLine<Tenant: Hashable & Sendable, Item: Sendable, Answer: Sendable> {
    struct Request: Sendable {
        let tenant: Tenant
        let items: [Item]
        let weight: Int
        /// As how many items it counts in a batch.
        let load: Int
        let since: ContinuousClock.Instant
        let continuation: CheckedContinuation<[Answer], any Error>
    }

    private struct Share {
        var requests: Deque<Request> = []
        var weight = 0
        var count = 0
    }

    private var shares: [Tenant: Share] = [:]

    /// Tenants with something waiting, the next one first.
    private(set) var rotation: Deque<Tenant> = []
    private(set) var weight = 0
    private(set) var count = 0

    func weight(of tenant: Tenant) -> Int { shares[tenant]?.weight ?? 0 }

    func count(of tenant: Tenant) -> Int { shares[tenant]?.count ?? 0 }

    mutating func append(_ request: Request) { add(request) { $0.append(request) } }

    /// Lines a tenant's requests up before those that it has waiting.
    mutating func putBack(_ requests: [Request]) {
        for request in requests.reversed() { add(request) { $0.prepend(request) } }
    }

    /// Takes what counts as up to `limit` items, of all tenants that are meant in turn, at least one request if there is any; the
    /// others keep their turns.
    mutating func next(upTo limit: Int, where isMeant: (Tenant) -> Bool) -> [Request] {
        var taken: [Request] = []
        var load = 0
        var passed: [Tenant] = []
        defer { rotation.prepend(contentsOf: passed) }
        while let tenant = rotation.first, let first = shares[tenant]?.requests.first {
            guard isMeant(tenant) else {
                passed.append(rotation.removeFirst())
                continue
            }
            load += first.load
            if !taken.isEmpty, load > limit { break }
            rotation.removeFirst()
            taken.append(first)
            if remove(first) { rotation.append(tenant) }
        }
        return taken
    }

    private mutating func add(_ request: Request, _ line: (inout Deque<Request>) -> Void) {
        weight += request.weight
        count += request.items.count
        if shares[request.tenant] == nil { rotation.append(request.tenant) }
        line(&shares[request.tenant, default: Share()].requests)
        shares[request.tenant]?.weight += request.weight
        shares[request.tenant]?.count += request.items.count
    }

    /// Takes a tenant's first request out; answers whether it has others.
    private mutating func remove(_ first: Request) -> Bool {
        weight -= first.weight
        count -= first.items.count
        shares[first.tenant]?.requests.removeFirst()
        shares[first.tenant]?.weight -= first.weight
        shares[first.tenant]?.count -= first.items.count
        guard shares[first.tenant]?.requests.isEmpty == true else { return true }
        shares[first.tenant] = nil
        return false
    }
}
