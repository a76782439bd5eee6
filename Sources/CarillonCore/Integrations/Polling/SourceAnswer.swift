/// What a source answered, read but not believed: each item is an event as backends post it, or a direct notification.
struct SourceAnswer: Sendable {
    /// Why an answer is none.
    struct Failure: Error, Equatable {
        let reason: String
    }

    private static let maximumItems = 1_000
    /// The longest cursor, in bytes: percent-encoded it still fits into a URL.
    private static let maximumCursorBytes = 256
    /// The longest name of an item in what admins are told.
    private static let shownBytes = 64

    private(set) var events: [ParsedEvent] = []
    /// How far the source has been read with it; `nil` for as far as before.
    private(set) var cursor: String?
    private(set) var hasMore = false
    /// How many items were not understood.
    private(set) var skippedItems = 0
    /// What was wrong with the first of them.
    private(set) var error: String?

    /// The answer of a source that has nothing new.
    init() {}

    init(_ body: [UInt8], events eventParser: EventParser, notifications: NotificationParser) throws(Failure) {
        guard case .object(let answer)? = try? JSONValue(parsing: body) else {
            throw Failure(reason: "the answer is no JSON object")
        }
        guard case .array(let items)? = answer["items"], items.count <= Self.maximumItems else {
            throw Failure(reason: "/items must be an array of at most \(Self.maximumItems)")
        }
        switch answer["cursor"] {
        case nil, .null?: break
        case .string(let text)? where text.utf8.count <= Self.maximumCursorBytes: cursor = text
        default: throw Failure(reason: "/cursor must be a string of at most \(Self.maximumCursorBytes) bytes")
        }
        switch answer["more"] {
        case nil, .null?: break
        case .bool(let more)?: hasMore = more
        default: throw Failure(reason: "/more must be true or false")
        }
        for (index, item) in items.enumerated() {
            do throws(InvalidInput) {
                events.append(try Self.event(item, eventParser, notifications))
            } catch {
                skippedItems += 1
                if self.error == nil { self.error = Self.words(for: error, of: item, at: index) }
            }
        }
        if skippedItems > 1, let first = error { error = "\(first), and \(skippedItems - 1) more items like it" }
    }

    /// What has a type is an event, what says whom it is for is a notification; both need ids, by which repeated ones are known.
    private static func event(
        _ item: JSONValue,
        _ events: EventParser,
        _ notifications: NotificationParser
    ) throws(InvalidInput) -> ParsedEvent {
        guard case .object(let members) = item else {
            throw InvalidInput(problem: "invalid-item", pointer: "", detail: "is no object")
        }
        guard case .string? = members["id"] else {
            throw InvalidInput(problem: "invalid-item", pointer: "/id", detail: "is required")
        }
        let parsed =
            members.contains("type")
            ? try events.parse(body: item.serialized, fallbackSourceID: nil)
            : try notifications.parse(body: item.serialized) { _ in "" }
        guard case .single(let event) = parsed, case .known = event.content else {
            throw InvalidInput(problem: "invalid-item", pointer: "/type", detail: "is unknown")
        }
        return event
    }

    private static func words(for error: InvalidInput, of item: JSONValue, at index: Int) -> String {
        var name = "item \(index)"
        if case .object(let members) = item, case .string(let id)? = members["id"] {
            name += " (\(id.shortened(toCharacters: shownBytes, bytes: shownBytes)))"
        }
        guard let first = error.errors.first else { return "\(name) was skipped" }
        return "\(name) was skipped: \(first.pointer) \(first.detail)"
    }
}
