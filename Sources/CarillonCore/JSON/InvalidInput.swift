/// What is wrong with one place of a body: becomes one of `errors` in an RFC 9457 problem.
package struct FieldError: Sendable, Equatable {
    /// Where: a JSON Pointer (RFC 6901); empty for the whole body.
    package var pointer: String
    /// What is wrong and what would be right, without repeating the value.
    package var detail: String

    package init(pointer: String, detail: String) {
        self.pointer = pointer
        self.detail = detail
    }
}

/// Input that the caller has to correct: answered with 400 and every place that is wrong.
package struct InvalidInput: Error, Sendable, Equatable, CustomStringConvertible {
    /// The last part of the problem's `type`, such as `invalid-template`.
    package var problem: String
    /// The places; never empty.
    package var errors: [FieldError]

    package init(problem: String, errors: [FieldError]) {
        self.problem = problem
        self.errors = errors
    }

    package init(problem: String, pointer: String, detail: String) {
        self.init(problem: problem, errors: [FieldError(pointer: pointer, detail: detail)])
    }

    /// The first place's detail: holds no data of the caller.
    package var description: String { "\(problem): \(errors.first?.detail ?? "")" }
}
