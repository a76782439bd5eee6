/// Collects what is wrong with one body, so that its sender learns of all of it at once.
///
/// Keeps the first 20 errors. Lives on one task while one body is read.
package final class InputErrors {
    private static let maximumCount = 20

    /// What was found, in the order in which it was found.
    package private(set) var errors: [FieldError] = []

    package init() {}

    package var isEmpty: Bool { errors.isEmpty }

    /// Whether more errors would not be kept, so that looking for them is idle.
    package var isFull: Bool { errors.count >= Self.maximumCount }

    package func add(pointer: String, detail: String) {
        if !isFull { errors.append(FieldError(pointer: pointer, detail: detail)) }
    }

    package func throwIfAny(problem: String) throws(InvalidInput) {
        if !isEmpty { throw InvalidInput(problem: problem, errors: errors) }
    }
}
