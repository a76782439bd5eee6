/// What is wrong with one place of a body: becomes one of `errors` in an RFC 9457 problem.
public struct FieldError: Sendable, Equatable {
    /// Where: a JSON Pointer (RFC 6901); empty for the whole body.
    public var pointer: String
    /// What is wrong and what would be right, without repeating the value.
    public var detail: String

    /// An error at a place.
    public init(pointer: String, detail: String) {
        self.pointer = pointer
        self.detail = detail
    }
}

/// Input that the caller has to correct: answered with 400 and every place that is wrong.
public struct InvalidInput: Error, Sendable, Equatable, CustomStringConvertible {
    /// The last part of the problem's `type`, such as `invalid-template`.
    public var problem: String
    /// The places; never empty.
    public var errors: [FieldError]

    /// An error with its places.
    public init(problem: String, errors: [FieldError]) {
        self.problem = problem
        self.errors = errors
    }

    /// An error at one place.
    public init(problem: String, pointer: String, detail: String) {
        self.init(problem: problem, errors: [FieldError(pointer: pointer, detail: detail)])
    }

    /// The first place's detail: holds no data of the caller.
    public var description: String { "\(problem): \(errors.first?.detail ?? "")" }
}
