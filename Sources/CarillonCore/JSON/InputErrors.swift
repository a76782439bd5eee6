/// Collects what is wrong with one body, so that its sender learns of all of it at once.
///
/// Keeps the first 20 errors. Lives on one task while one body is read.
public final class InputErrors {
    private static let maximumCount = 20

    /// What was found, in the order in which it was found.
    public private(set) var errors: [FieldError] = []

    /// An empty collection.
    public init() {}

    /// Whether nothing is wrong so far.
    public var isEmpty: Bool { errors.isEmpty }

    /// Whether more errors would not be kept, so that looking for them is idle.
    public var isFull: Bool { errors.count >= Self.maximumCount }

    /// Notes an error at a place.
    public func add(pointer: String, detail: String) {
        if !isFull { errors.append(FieldError(pointer: pointer, detail: detail)) }
    }

    /// Throws what was found, if anything, as a problem of that name.
    public func throwIfAny(problem: String) throws(InvalidInput) {
        if !isEmpty { throw InvalidInput(problem: problem, errors: errors) }
    }
}
