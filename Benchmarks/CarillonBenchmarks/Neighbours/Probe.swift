/// What an innocent network noticed in a while.
struct Probe: Sendable {
    /// From when a request was due to its 202, in milliseconds.
    var accepting = Series()
    /// From the 202 until every device had its notification, in milliseconds.
    var delivery = Series()
    /// Requests that had another answer than 202, or none.
    var failures: [String] = []
    /// Events that some device did not get in time.
    var missing = 0
    /// The processor time of all who shared the machine, where it was looked at.
    var used = ProcessorTime()

    /// Both measurements and their ratio.
    static func figures(quiet: Probe, loaded: Probe, promise: Promise) -> [Figure] {
        let accepting = (quiet: quiet.accepting.percentile(0.99), loaded: loaded.accepting.percentile(0.99))
        let requests = loaded.failures.count + loaded.accepting.count
        let delivery = (quiet: quiet.delivery.percentile(0.99), loaded: loaded.delivery.percentile(0.99))
        return [
            Figure("accepting, median, quiet", quiet.accepting.median, "ms"),
            Figure("accepting, median, loaded", loaded.accepting.median, "ms"),
            Figure("accepting, p99, quiet", accepting.quiet, "ms"),
            Figure(
                "accepting, p99, loaded",
                accepting.loaded,
                "ms",
                goal: .atMost(promise.accepting * accepting.quiet)
            ),
            Figure("accepting, ratio", accepting.loaded / accepting.quiet),
            Figure("delivery, median, quiet", quiet.delivery.median, "ms"),
            Figure("delivery, median, loaded", loaded.delivery.median, "ms"),
            Figure("delivery, p99, quiet", delivery.quiet, "ms"),
            Figure("delivery, p99, loaded", delivery.loaded, "ms", goal: .atMost(promise.limit(quiet: delivery.quiet))),
            Figure("delivery, ratio", delivery.loaded / delivery.quiet),
            Figure("failed requests of \(requests)", count: loaded.failures.count, goal: .atMost(0)),
            Figure("events not delivered in \(Innocent.patience)", count: loaded.missing, goal: .atMost(0)),
            Figure("processor time, loaded, generator", loaded.used.generator, "s"),
            Figure("processor time, loaded, service", loaded.used.service, "s"),
            Figure("processor time, loaded, PostgreSQL", loaded.used.postgres, "s"),
        ]
    }
}

extension Figure {
    /// The same figure under another name.
    func named(_ name: String) -> Figure { Figure(name, value, unit, range: range, goal: goal) }
}
