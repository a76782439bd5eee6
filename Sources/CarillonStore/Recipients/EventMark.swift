import CarillonCore
import Foundation
import Postgres

/// A place in the order in which the database accepts events and makes members: whoever has the smaller one was first.
///
/// What was before there were marks has a UUIDv7 in its place, which is smaller than all of them.
struct EventMark: Comparable, PostgresDecodable {
    private let id: EventID

    init(postgres field: borrowing PostgresField) throws(PostgresError) {
        id = EventID(try UUID(postgres: field))
    }

    static func < (left: Self, right: Self) -> Bool { left.id < right.id }
}
