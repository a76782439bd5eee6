import DequeModule

/// Requests that wait for a flight: tenants take turns, each one's requests keep their order.
struct WaitingLine<Tenant: Hashable & Sendable, Item: Sendable, Receipt: Sendable> {
    /// One request.
    struct Submission: Sendable {
        let tenant: Tenant
        let items: [Item]
        let weight: Int
        let since: ContinuousClock.Instant
        let continuation: CheckedContinuation<[Receipt], any Error>
    }

    private var lines: [Tenant: Deque<Submission>] = [:]
    private var turns: Deque<Tenant> = []
    private var weights: [Tenant: Int] = [:]

    private(set) var weight = 0
    /// How many items wait.
    private(set) var count = 0

    /// What a tenant's requests weigh.
    func weight(of tenant: Tenant) -> Int { weights[tenant, default: 0] }

    var nextTenant: Tenant? { turns.first }

    mutating func append(_ submission: Submission) {
        if lines[submission.tenant] == nil { turns.append(submission.tenant) }
        lines[submission.tenant, default: []].append(submission)
        add(submission)
    }

    mutating func append(contentsOf submissions: [Submission]) {
        for submission in submissions { append(submission) }
    }

    /// Lines a tenant's requests up before those that it has waiting; its turn comes after the others'.
    mutating func putBack(_ submissions: [Submission]) {
        guard let tenant = submissions.first?.tenant else { return }
        append(contentsOf: submissions + removeAll(of: tenant))
    }

    /// Takes up to `limit` items of all tenants that are meant in turn, at least one request if there is any; the others keep
    /// their turns.
    mutating func next(upTo limit: Int, where isMeant: (Tenant) -> Bool = { _ in true }) -> [Submission] {
        var taken: [Submission] = []
        var items = 0
        var passed: [Tenant] = []
        defer { turns.prepend(contentsOf: passed) }
        while let tenant = turns.first, let first = lines[tenant]?.first {
            guard isMeant(tenant) else {
                passed.append(turns.removeFirst())
                continue
            }
            items += first.items.count
            if !taken.isEmpty, items > limit { break }
            turns.removeFirst()
            taken.append(first)
            lines[tenant]?.removeFirst()
            remove(first)
            if lines[tenant]?.isEmpty ?? true { lines[tenant] = nil } else { turns.append(tenant) }
        }
        return taken
    }

    /// Takes up to `limit` items of one tenant, at least one request if there is any; then it is the others' turn.
    mutating func next(upTo limit: Int, of tenant: Tenant) -> [Submission] {
        let own = removeAll(of: tenant)
        var items = 0
        var count = 0
        for submission in own {
            items += submission.items.count
            if count > 0, items > limit { break }
            count += 1
        }
        append(contentsOf: Array(own[count...]))
        return Array(own[..<count])
    }

    /// Takes everything that a tenant has waiting.
    mutating func removeAll(of tenant: Tenant) -> [Submission] {
        guard let line = lines.removeValue(forKey: tenant) else { return [] }
        // Mostly it is its turn: then the others need not be looked at.
        if turns.first == tenant { turns.removeFirst() } else { turns.removeAll { $0 == tenant } }
        for submission in line { remove(submission) }
        return Array(line)
    }

    private mutating func add(_ submission: Submission) {
        weight += submission.weight
        count += submission.items.count
        weights[submission.tenant, default: 0] += submission.weight
    }

    private mutating func remove(_ submission: Submission) {
        weight -= submission.weight
        count -= submission.items.count
        let rest = weights[submission.tenant, default: 0] - submission.weight
        weights[submission.tenant] = rest > 0 ? rest : nil
    }
}
