import CarillonCore
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
        guard case .array(let elements)? = try? JSONValue(parsing: text) else { return nil }
        return elements.compactMap { element in
            guard case .string(let role) = element else { return nil }
            return role
        }
    }
}
