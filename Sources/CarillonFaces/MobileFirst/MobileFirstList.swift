import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// Which part of a list is wanted, and by what it is narrowed: `offset`, `size`, `expand`, `filter` (FACES section H1).
struct MobileFirstList {
    private static let sizes = 1...500
    private static let usualSize = 10

    let offset: Int
    let size: Int
    /// What must be equal to what; from `filter`, and from parameters of these names.
    let narrowed: [String: String]
    private let caller: MobileFirstCaller

    /// The list that a request asks for.
    ///
    /// - Throws: `FPWSE0007E` for parameters and filters that nobody knows: they must not list more than was meant.
    init(_ caller: MobileFirstCaller, by names: [String], filtered: [String] = []) throws {
        self.caller = caller
        let query = QueryParameters(caller.request)
        try caller.request.checkQuery(names + ["offset", "size", "expand", "filter", "locale"])
        offset = try Self.number(query.text("offset"), or: 0, in: 0...CountedPage<Device>.maximumTotal, .wrongOffset)
        size = try Self.number(query.text("size"), or: Self.usualSize, in: Self.sizes, .wrongSize)
        _ = try query.flag("expand")
        var narrowed: [String: String] = [:]
        for name in names { narrowed[name] = try query.text(name) }
        if let filter = try query.text("filter") {
            guard let operation = filter.firstRange(of: "=="), !filter[operation.upperBound...].isEmpty,
                (names + filtered).contains(String(filter[..<operation.lowerBound]))
            else {
                let known = (names + filtered).map { "\($0)==…" }.joined(separator: ", ")
                throw Problem.mobileFirst(.wrongQuery, "filter must be one of \(known)")
            }
            let (name, value) = (String(filter[..<operation.lowerBound]), String(filter[operation.upperBound...]))
            guard narrowed.updateValue(value, forKey: name) ?? value == value else {
                throw Problem.mobileFirst(.wrongQuery, "\(name) is given twice")
            }
        }
        self.narrowed = narrowed
    }

    private static func number(
        _ text: String?,
        or usual: Int,
        in range: ClosedRange<Int>,
        _ code: MobileFirstCode
    ) throws(Problem) -> Int {
        guard let text else { return usual }
        guard let number = Int(text), range.contains(number), text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else {
            throw .mobileFirst(code, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// The answer: a part, and where the ones before and after it are.
    func answer(_ name: String, _ items: [JSONValue], of total: Int) -> Response {
        let hasNext = offset + items.count < total && !items.isEmpty
        return .json([
            name: .array(items),
            "pageInfo": [
                "count": .string("\(items.count)"), "totalCount": .string("\(total)"),
                "next": .string(hasNext ? address(of: offset + items.count) : ""),
                "previous": .string(offset > 0 ? address(of: max(0, offset - size)) : ""),
            ],
        ])
    }

    private func address(of offset: Int) -> String {
        let others = (caller.request.uri.query ?? "").split(separator: "&").filter { pair in
            !pair.hasPrefix("offset=") && !pair.hasPrefix("size=")
        }
        let query = others + ["offset=\(offset)", "size=\(size)"]
        return caller.baseURL + caller.request.uri.path + "?" + query.joined(separator: "&")
    }
}

extension MobileFirstCaller {
    /// What links to the same service begin with: the host that the caller asked for, who alone gets it back.
    var baseURL: String {
        guard let authority = request.head.authority, !authority.isEmpty else { return "" }
        return "\(context.isOverTLS ? "https" : "http")://\(authority)"
    }
}

extension Request {
    func checkQuery(_ names: [String]) throws(Problem) {
        guard QueryParameters(self).names.allSatisfy(names.contains) else {
            throw .mobileFirst(.wrongQuery, "there is a parameter in the query that is not known here")
        }
    }
}

extension Timestamp {
    /// `2015-05-20T11:42:11Z`.
    var mobileFirst: JSONValue { .string(String(description.prefix(19)) + "Z") }
}
