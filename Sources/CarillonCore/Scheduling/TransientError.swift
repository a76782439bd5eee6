/// An error that knows whether the same call can succeed later.
///
/// The database's being away or too busy is transient; a value that it refuses is not.
package protocol TransientError: Error {
    /// Whether trying again later can help.
    var isTransient: Bool { get }
}

extension Error {
    /// Whether trying again later can help; cancellation counts as such, since nothing was wrong with the call.
    package var isTransient: Bool {
        (self as? any TransientError)?.isTransient ?? (self is CancellationError)
    }
}
