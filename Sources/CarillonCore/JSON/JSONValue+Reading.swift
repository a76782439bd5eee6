extension JSONValue {
    /// Reads a body; one that is no acceptable JSON is the problem `invalid-json`.
    package init(body: [UInt8]) throws(InvalidInput) {
        do throws(JSONSyntaxError) {
            try self.init(parsing: body)
        } catch {
            throw InvalidInput(error)
        }
    }

    /// Reads this body by its members; throws everything that is wrong with it as one problem.
    package func read<Value>(
        as problem: String,
        at pointer: String = "",
        unknown: JSONObjectReader.UnknownMembers = .refuse,
        _ read: (inout JSONObjectReader) -> Value?
    ) throws(InvalidInput) -> Value {
        let errors = InputErrors()
        var reader = JSONObjectReader(self, at: pointer, unknown: unknown, into: errors)
        let value = read(&reader)
        reader.finish()
        try errors.throwIfAny(problem: problem)
        guard let value else { throw InvalidInput(problem: problem, pointer: pointer, detail: "is not complete") }
        return value
    }
}
