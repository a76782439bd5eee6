package import NIOCore
package import NIOHTTP1

/// Answers requests on an event loop, without a task for each.
///
/// Belongs to one event loop, and is called on it alone.
package protocol RequestIntake: AnyObject {
    /// Whether a request of this head is worth waiting for its body, which is small then.
    func mayTake(_ head: HTTPRequestHead) -> Bool

    /// Takes a whole request, and replies once, not before it has returned; `false` when it does not take it.
    func take(_ head: HTTPRequestHead, _ body: ByteBuffer, reply: @escaping (IntakeReply) -> Void) -> Bool
}

package enum IntakeReply {
    case answer(HTTPResponseHead, ByteBuffer)
    /// The request goes the way of all others, where it fails for the same reason, if there is one.
    case handOn(failure: FailedRequests.Failure?)
}
