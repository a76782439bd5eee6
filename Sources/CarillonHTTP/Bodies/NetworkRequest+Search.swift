import CarillonCore
import CarillonEdge
import Hummingbird

extension NetworkRequest {
    /// Answers a page of what `find` finds in the directory whose ids or names begin with a text.
    func search<Item>(
        json: (Item) -> JSONValue,
        _ find: (_ text: String, _ after: SearchCursor?, _ limit: Int) async throws -> SearchPage<Item>
    ) async throws -> Response {
        try query.refuseAll(but: "query")
        let page = try page()
        let text = try query.text("query") ?? ""
        // What no id can be, no query can be.
        guard Identifier<Never>(text) != nil || ["", ".", ".."].contains(text) else {
            let limit = SearchText.maximumBytes
            throw Problem.invalidParameter("query", "must be at most \(limit) bytes without control characters")
        }
        let found = try await find(text, page.after { SearchCursor($0) }, page.limit)
        return page.answer(found.items, next: found.next?.description, json)
    }
}
