/// The two shapes of a body that posts something: one of it, or an array of 1 to ``maximumCount``.
struct PostedBody: Sendable {
    /// The most elements of an array.
    static let maximumCount = 1000

    /// What is answered when something is wrong.
    let problem: String
    /// What is posted, with its article.
    let one: String
    /// What is posted, several of it.
    let many: String

    /// Reads one value, or each of an array; one bad element makes the whole array bad.
    ///
    /// - Parameters:
    ///   - body: The bytes as they arrived.
    ///   - read: Reads a value by its bytes and its place, which is empty for one that stands alone; `nil` after noting what
    ///     is wrong.
    /// - Returns: What was read, in its order.
    /// - Throws: The problem `invalid-json` with line and column, or that of this body with a JSON Pointer (RFC 6901) to each
    ///   error.
    func parse(
        _ body: [UInt8],
        _ read: (_ value: JSONValue, _ bytes: () -> [UInt8], _ pointer: String, InputErrors) -> ParsedEvent?
    ) throws(InvalidInput) -> ParsedBody {
        let errors = InputErrors()
        guard JSONValue.beginsArray(body) else {
            let value = try JSONValue(body: body)
            guard case .object = value else {
                throw InvalidInput(problem: problem, pointer: "", detail: "must be \(one) or an array of \(many)")
            }
            guard let event = read(value, { body }, "", errors) else {
                throw InvalidInput(problem: problem, errors: errors.errors)
            }
            return .single(event)
        }
        let elements: [(range: Range<Int>, value: JSONValue)]
        do throws(JSONSyntaxError) {
            elements = try JSONValue.parseElements(of: body)
        } catch {
            throw InvalidInput(error)
        }
        guard (1...Self.maximumCount).contains(elements.count) else {
            throw InvalidInput(problem: problem, pointer: "", detail: "must hold 1 to \(Self.maximumCount) \(many)")
        }
        var events: [ParsedEvent] = []
        events.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() where !errors.isFull {
            if let event = read(element.value, { Array(body[element.range]) }, JSONPointer.step(index), errors) {
                events.append(event)
            }
        }
        try errors.throwIfAny(problem: problem)
        return .batch(events)
    }
}
