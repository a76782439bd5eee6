import CarillonCore
import CarillonEdge
import Hummingbird

enum DirectoryQuery {
    /// The page that is wanted, and what ids or names begin with.
    static func read(_ request: Request) throws(Problem) -> (page: Page, text: String) {
        let query = QueryParameters(request)
        try query.refuseAll(but: "query")
        let page = try Page(query)
        guard let text = try query.text("query"), !text.isEmpty else { return (page, "") }
        // What no id can be, no query can be.
        guard Identifier<Never>(text) != nil || text == "." || text == ".." else {
            let limit = SearchText.maximumBytes
            throw .invalidParameter("query", "must be at most \(limit) bytes without control characters")
        }
        return (page, text)
    }
}
