import CarillonCore
import Foundation
import Postgres

extension Row {
    /// Reads an id that was checked before it was stored.
    func id<Subject>(_ column: Int, of subject: Subject.Type = Subject.self) throws -> Identifier<Subject> {
        Identifier(trusted: try decode(column, as: String.self))
    }

    /// Reads somebody of the directory: id and name first, and the roles behind the locale.
    func person(localeAt column: Int) throws -> Person {
        Person(
            id: try id(0),
            displayName: try decode(1),
            locale: try decode(column),
            roles: try decode(column + 1, as: String?.self).flatMap(StoredRoles.roles)
        )
    }

    func eventID(_ column: Int) throws -> EventID {
        EventID(try decode(column))
    }

    /// Reads a moment, cut to milliseconds.
    func timestamp(_ column: Int) throws -> Timestamp {
        Timestamp(stored: try decode(column, as: PostgresTimestamp.self))
    }

    func timestampIfAny(_ column: Int) throws -> Timestamp? {
        try decode(column, as: PostgresTimestamp?.self).map(Timestamp.init(stored:))
    }

    /// Reads how many recipients an event has, from six columns that follow each other and one.
    func tally(at first: Int, intercepted: Int) throws -> RecipientTally {
        var tally = RecipientTally()
        tally.resolved = try decode(first)
        tally.notified = try decode(first + 1)
        tally.suppressed[.network] = try decode(first + 2, as: Int.self)
        tally.suppressed[.user] = try decode(first + 3, as: Int.self)
        tally.suppressed[.channel] = try decode(first + 4, as: Int.self)
        tally.noDevice = try decode(first + 5)
        tally.intercepted = try decode(intercepted)
        return tally
    }

    func trace(_ column: Int) throws -> TraceContext? {
        try decode(column, as: String?.self).flatMap(TraceContext.init)
    }

    /// Reads the name of a case; a name that no case has is an error, as only a newer release can have written it.
    func choice<Choice: RawRepresentable<String>>(_ column: Int, of type: Choice.Type = Choice.self) throws -> Choice {
        guard let choice = Choice(rawValue: try decode(column)) else {
            throw StoreError.unreadable("\(Choice.self)")
        }
        return choice
    }
}

extension PostgresTimestamp {
    /// The moment so much later, to the millisecond.
    static func + (moment: Self, duration: Duration) -> Self {
        Self(microsecondsSince1970: moment.microsecondsSince1970 + duration.wholeMilliseconds * 1000)
    }

    /// The moment so much earlier, to the millisecond.
    static func - (moment: Self, duration: Duration) -> Self {
        Self(microsecondsSince1970: moment.microsecondsSince1970 - duration.wholeMilliseconds * 1000)
    }
}

extension Timestamp {
    /// The moment as PostgreSQL keeps it; one that it cannot keep is before or after all others.
    var stored: PostgresTimestamp {
        if milliseconds < Self.firstStored { return .negativeInfinity }
        if milliseconds > Self.lastStored { return .infinity }
        return PostgresTimestamp(microsecondsSince1970: milliseconds * 1000)
    }

    /// Julian day 0, where PostgreSQL's time begins.
    private static let firstStored: Int64 = -210_866_803_200_000
    /// The last whole millisecond that can be counted in microseconds.
    private static let lastStored = Int64.max / 1000

    /// A moment read back, cut to milliseconds.
    init(stored: PostgresTimestamp) {
        let (quotient, remainder) = stored.microsecondsSince1970.quotientAndRemainder(dividingBy: 1000)
        self.init(milliseconds: remainder < 0 ? quotient - 1 : quotient)
    }
}

/// Roles are stored as a JSON array: PostgreSQL has no arrays of arrays to write many people's at once.
enum StoredRoles {
    static func text(of roles: [String]) -> String {
        JSONValue.array(roles.map(JSONValue.string)).serializedText
    }

    /// Reads what ``text(of:)`` wrote; anything else means that nothing is known.
    static func roles(from text: String) -> [String]? {
        (try? JSONValue(parsing: text))?.list?.compactMap(\.text)
    }
}

extension EventMark: PostgresDecodable {
    /// Reads a `uuid`.
    init(postgres field: borrowing PostgresField) throws(PostgresError) {
        self.init(try UUID(postgres: field))
    }

    /// The mark of a position in a block that sequence `marks` gave out.
    init(block: Int64, position: Int) {
        let low = UInt64(bitPattern: block + Int64(position))
        var bytes: uuid_t = (255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes) { $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self) }
        self.init(UUID(uuid: bytes))
    }
}

extension UUID {
    /// Smaller than every id that there is.
    static let smallest = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    /// Larger than every id that there is.
    static let largest = UUID(uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255))
}
