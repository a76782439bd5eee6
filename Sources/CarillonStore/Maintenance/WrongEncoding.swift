/// A database whose texts cannot hold what people write.
package struct WrongEncoding: Error, Equatable, CustomStringConvertible {
    package let encoding: String

    /// Whether an encoding is a wrong one.
    package init?(_ encoding: String) {
        guard encoding != "UTF8" else { return nil }
        self.encoding = encoding
    }

    package var description: String {
        """
        the database's encoding is \(encoding), UTF8 is needed, which no database can be changed to: createdb --encoding=UTF8 \
        --locale=C.UTF-8 --template=template0 makes another one
        """
    }
}
