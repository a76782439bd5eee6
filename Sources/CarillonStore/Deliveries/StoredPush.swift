import CarillonCore
import Postgres

extension Push {
    /// What goes beyond title and body, as JSON; `nil` when nothing does.
    var storedContent: String? { content.map { JSONValue.object($0.json).serializedText } }
}

extension Row {
    /// Reads locale, title and body from three columns that follow each other, and what goes beyond them from one.
    func push(_ first: Int, content column: Int) throws -> Push {
        let notification = Notification(
            locale: try decode(first),
            title: try decode(first + 1),
            body: try decode(first + 2)
        )
        guard let stored = try decode(column, as: String?.self) else { return Push(notification) }
        let errors = InputErrors()
        guard let json = try? JSONValue(parsing: stored) else { throw StoreError.unreadable("content") }
        // A later release may know more than this one.
        var reader = JSONObjectReader(json, unknown: .tolerate, into: errors)
        let content = reader.pushContent(isStored: true)
        guard errors.isEmpty else { throw StoreError.unreadable("content") }
        return Push(notification, content: content)
    }
}
