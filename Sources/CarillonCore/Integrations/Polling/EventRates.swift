/// What networks may still post, by their rates.
package protocol EventRates: Sendable {
    /// After how long a network may post anything; `nil` when it may. Counts nothing.
    func wait(of network: Network) -> Duration?
    /// Counts events of a network; after how long to try again, with none of them counted, when they are too many.
    func wait(counting events: Int, of network: Network) -> Duration?
    /// Takes back that events were counted, which were not posted.
    func giveBack(events count: Int, of network: Network)
}
