/// An error that knows whether the same call can succeed later.
///
/// The database's being away or too busy is transient; a value that it refuses is not.
package protocol TransientError: Error {
    /// Whether trying again later can help.
    var isTransient: Bool { get }
    /// Whether it waited in vain for something that somebody else holds: work that does not need it can go on.
    var isContention: Bool { get }
}

extension TransientError {
    /// Most are not.
    package var isContention: Bool { false }
}

extension Error {
    /// Whether trying again later can help; cancellation counts as such, since nothing was wrong with the call.
    package var isTransient: Bool {
        (self as? any TransientError)?.isTransient ?? (self is CancellationError)
    }

    /// Whether it waited in vain for something that somebody else holds.
    package var isContention: Bool { (self as? any TransientError)?.isContention ?? false }
}
