import CarillonCore
import HTTPTypes
import Hummingbird

/// Says what a caller is told of an error.
///
/// Knows the errors of this module and of the core. What an adapter throws beyond ``TransientError`` can be told to
/// `other` by the executable, which knows the adapters.
package struct ProblemMapping: Sendable {
    private let other: @Sendable (any Error) -> Problem?

    /// A mapping that asks `other` for errors which it does not know itself.
    package init(other: @escaping @Sendable (any Error) -> Problem? = { _ in nil }) {
        self.other = other
    }

    /// The problem; `nil` for an error that nobody foresaw.
    func problem(for error: any Error) -> Problem? {
        switch error {
        case let problem as Problem: problem
        case let error as any FaceError: error.problem
        case let input as InvalidInput: Problem(input)
        case let reached as LimitReached: .limitReached(reached)
        case is DeviceTaken: .conflict("device-taken", "the device is in use by another user, at another address")
        case is UnreadableCredential: .wrongMasterKey
        case let refusal as EndpointRefusal: Problem(refusal)
        case let refusal as FaceRefusal: Problem(refusal)
        case is TooManySources: .full("sources", Source.maximumCount)
        case let problem as PlacementProblem: Problem(problem)
        case let problem as MoveProblem: Problem(problem)
        case let failure as IdempotentRequest.Failure: Problem(failure)
        case is RequestDeadlineExceeded: .requestTimeout
        case let error as HTTPError where error.status == .notFound: .notFound()
        default: other(error) ?? (error.isTransient ? .serviceUnavailable() : nil)
        }
    }
}
