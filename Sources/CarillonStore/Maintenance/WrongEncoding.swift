import Postgres

/// A database whose texts cannot hold what people write.
package struct WrongEncoding: Error, Equatable, CustomStringConvertible {
    package let encoding: String

    package var description: String {
        """
        the database's encoding is \(encoding), UTF8 is needed, which no database can be changed to: createdb --encoding=UTF8 \
        --locale=C.UTF-8 --template=template0 makes another one
        """
    }

    /// Passes databases that will do.
    static func check(_ session: borrowing PostgresSession) throws {
        let encoding = try session.first("SELECT current_setting('server_encoding')", as: String.self)
        if let encoding, encoding != "UTF8" { throw WrongEncoding(encoding: encoding) }
    }
}
