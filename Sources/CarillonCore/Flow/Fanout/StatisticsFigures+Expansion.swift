extension StatisticsFigures {
    /// Counts the users of a page of an event's recipients, by the event before the page and behind it.
    mutating func count(_ event: PendingEvent, since before: PendingEvent) {
        guard event.tally != before.tally else { return }
        var counts = Recipients()
        counts.notified = event.tally.notified - before.tally.notified
        counts.noDevice = event.tally.noDevice - before.tally.noDevice
        counts.intercepted = event.tally.intercepted - before.tally.intercepted
        for (level, count) in event.tally.suppressed {
            let change = count - before.tally.suppressed[level, default: 0]
            if change != 0 { counts.suppressed[level] = change }
        }
        let subject = Subject(type: event.event.type, module: event.event.direct?.module ?? .chat)
        recipients[subject, default: Recipients()].add(counts)
    }
}
