/// An error that knows whether the same call can succeed later.
///
/// The database's being away or too busy is transient; a value that it refuses is not.
package protocol TransientError: Error {
    /// Whether trying again later can help.
    var isTransient: Bool { get }
    /// Whether it waited in vain for something that somebody else holds: work that does not need it can go on.
    var isContention: Bool { get }
    /// Whether what was to be written may have been all the same, because the answer was lost; `false` says that it was not.
    var isOutcomeUnknown: Bool { get }
    /// Whether nothing is wrong with the call, and the same one fails until somebody has repaired something: a disk, or what may be done
    /// with a table.
    var awaitsRepair: Bool { get }
}

extension TransientError {
    package var isContention: Bool { false }
    /// Nothing was written.
    package var isOutcomeUnknown: Bool { false }
    package var awaitsRepair: Bool { false }
}

extension Error {
    /// Whether trying again later can help; cancellation counts as such, since nothing was wrong with the call.
    package var isTransient: Bool {
        (self as? any TransientError)?.isTransient ?? (self is CancellationError)
    }

    /// Whether it waited in vain for something that somebody else holds.
    package var isContention: Bool { (self as? any TransientError)?.isContention ?? false }

    /// Whether what was to be written may have been all the same.
    package var isOutcomeUnknown: Bool {
        (self as? any TransientError)?.isOutcomeUnknown ?? false
    }

    /// Whether nothing is wrong with the call, and the same one fails until somebody has repaired something.
    package var awaitsRepair: Bool { (self as? any TransientError)?.awaitsRepair ?? false }
}

/// Something failed after a part of the work had been written, or may have been.
package struct OutcomeUnknown: TransientError, CustomStringConvertible {
    package let cause: any Error
    package var isTransient: Bool { true }
    package var isOutcomeUnknown: Bool { true }
    package var description: String { "\(cause), after something may have been written" }
}
