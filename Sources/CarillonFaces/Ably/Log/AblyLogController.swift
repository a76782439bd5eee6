import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// `GET /channels/[meta]log:push/messages` (FACES E7): why pushes did not arrive, as the history of a channel.
struct AblyLogController: Sendable {
    private static let channel = "[meta]log:push"
    /// A page looks at so many lines of the outcome log at the most, of which there may be few that concern the application.
    private static let reads = 10
    private static let smallestRead = 100

    let services: Services

    func addRoutes(to routes: AblyRoutes) {
        routes.on(.get, "/channels/{channel}/messages", as: "push-log", readsPages: true, use: list)
    }

    private func list(_ call: AblyCall) async throws -> Response {
        guard try call.context.segment("channel", plusIsSpace: true) == Self.channel else { throw AblyError.noHistory }
        try call.caller.require(.history, on: Self.channel)
        let page = try AblyPage(call.request, parameters: ["start", "end", "direction"])
        let query = try Self.query(AblyFilters(call.request))
        let cursor = try page.after { FailureCursor($0) }
        let (lines, next) = try await lines(query, after: cursor, limit: page.limit, for: call.caller)
        return page.answer(lines.map(\.json), next: next?.description, to: call.request)
    }

    /// A page of the log, and the cursor behind which there may be more.
    private func lines(
        _ query: FailureQuery,
        after cursor: FailureCursor?,
        limit: Int,
        for caller: AblyCaller
    ) async throws -> (lines: [AblyLogLine], next: FailureCursor?) {
        let lanes = await services.lanes().compactMap { AblyLogLine($0, for: caller) }
        let unsent = try await services.journal.unsent(by: caller).map(AblyLogLine.init)
        var lines = (lanes + unsent).filter { line in
            query.covers(line.cursor) && (cursor.map { query.puts($0, before: line.cursor) } ?? true)
        }
        var last = cursor
        var (found, isAtEnd) = (0, false)
        for _ in 0..<Self.reads where found <= limit && !isAtEnd {
            let count = max(Self.smallestRead, limit + 1)
            let read = try await services.history.failures(in: caller.network.id, query, after: last, limit: count)
            let part = read.compactMap { AblyLogLine($0, for: caller) }
            lines += part
            found += part.count
            isAtEnd = read.count < count
            last = read.last?.cursor ?? last
        }
        // Beyond what was looked at there may be lines before these.
        if !isAtEnd, let last { lines.removeAll { query.puts(last, before: $0.cursor) } }
        lines.sort { query.puts($0.cursor, before: $1.cursor) }
        guard lines.count <= limit else {
            let shown = Array(lines.prefix(limit))
            return (shown, shown.last?.cursor)
        }
        return (lines, isAtEnd ? nil : last)
    }

    private static func query(_ filters: AblyFilters) throws -> FailureQuery {
        func moment(_ name: String) throws -> Timestamp? {
            try filters.text(name).map { text in
                guard let milliseconds = Int64(text), (0...Int64(1) << 52).contains(milliseconds) else {
                    throw AblyError.query("\(name) must be a time in milliseconds since 1970")
                }
                return Timestamp(milliseconds: milliseconds)
            }
        }
        let (start, end) = (try moment("start"), try moment("end"))
        if let start, let end, end < start { throw AblyError.query("start must not be later than end") }
        let isOldestFirst: Bool
        switch try filters.text("direction") {
        case nil, "backwards": isOldestFirst = false
        case "forwards": isOldestFirst = true
        default: throw AblyError.query("direction must be backwards or forwards")
        }
        return FailureQuery(from: start, to: end.map { $0 + .milliseconds(1) }, isOldestFirst: isOldestFirst)
    }
}
