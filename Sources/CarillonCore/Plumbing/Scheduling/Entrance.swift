/// The way into the next stage's memory, for work that has a row.
///
/// Before the row is written a slot is asked for, so that it can be written as held by this replica; afterwards the work
/// is handed over, or the slot is given back. What has no slot is claimed from its table by whoever has room.
package protocol Entrance<Item>: Sendable {
    /// What is handed over.
    associatedtype Item: Sendable

    /// Keeps a slot for each item for which there is room; whether it has one.
    func reserve(_ items: [Item]) -> [Bool]

    /// Gives back the slots of items that were not written after all.
    func cancel(_ items: [Item])

    /// Hands over items that have a slot, now that they are durable.
    func submit(_ items: [Item]) async
}
