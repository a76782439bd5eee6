/// The way into the next stage's memory, for work that has a row.
///
/// Before the row is written a place is asked for, so that it can be written as held by this replica; afterwards the work
/// is handed over, or the place is given back. What has no place is claimed from its table by whoever has room.
package protocol Entrance<Item>: Sendable {
    /// What is handed over.
    associatedtype Item: Sendable

    /// Keeps a place for each item for which there is room; whether it has one.
    func reserve(_ items: [Item]) -> [Bool]

    /// Gives back the places of items that were not written after all.
    func cancel(_ items: [Item])

    /// Hands over items that have a place, now that they are durable.
    func submit(_ items: [Item]) async
}
