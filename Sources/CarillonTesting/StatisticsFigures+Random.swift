package import CarillonCore

extension StatisticsFigures {
    /// Figures of anything, some of them less than nothing.
    package static func random(_ random: inout some RandomNumberGenerator) -> StatisticsFigures {
        func number() -> Int { .random(in: -3...100, using: &random) }
        var figures = StatisticsFigures()
        for type in EventType.known.shuffled(using: &random).prefix(3) {
            figures.events[type, default: Acceptances()].accepted = number()
            figures.events[type, default: Acceptances()].duplicate = number()
            let module = Module.allCases.randomElement(using: &random) ?? .chat
            var counts = Recipients()
            (counts.notified, counts.noDevice, counts.intercepted) = (number(), number(), number())
            for level in ToggleLevel.allCases { counts.suppressed[level] = number() }
            figures.recipients[Subject(type: type, module: module)] = counts
        }
        for provider in ProviderName.allCases.shuffled(using: &random).prefix(2) {
            var counts = Deliveries()
            (counts.delivered, counts.unregistered, counts.expired) = (number(), number(), number())
            (counts.dead, counts.retries) = (number(), number())
            figures.deliveries[provider] = counts
        }
        for route in ["events", "events/stream", "notifications"].shuffled(using: &random).prefix(2) {
            var counts = Posts()
            (counts.all, counts.refused) = (number(), number())
            figures.posts[route] = counts
        }
        for _ in 0..<5 { figures.latency.note(.random(in: 0...100_000, using: &random)) }
        return figures
    }
}
