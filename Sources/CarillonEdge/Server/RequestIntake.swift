package import CarillonCore
package import NIOCore
package import NIOHTTP1

/// Answers requests on an event loop, without a task for each.
///
/// Belongs to one event loop, and is called on it alone.
package protocol RequestIntake: AnyObject {
    /// Whether a request of this head is worth waiting for its body, which is small then.
    func mayTake(_ head: HTTPRequestHead) -> Bool

    /// Takes a whole request, and replies once, not before it has returned; `false` when it does not take it.
    func take(_ request: ArrivedRequest, reply: @escaping (IntakeReply) -> Void) -> Bool
}

/// A request that is whole.
package struct ArrivedRequest {
    package let head: HTTPRequestHead
    package internal(set) var body = ByteBuffer()
    let remoteAddress: SocketAddress?

    /// Who is connected; `nil` where that is no address of the Internet's.
    package var peer: IPAddress? { remoteAddress.flatMap { IPAddress($0) } }
}

extension HTTPRequestHead {
    /// How long the body of a `POST` is, as its head says; `nil` where it does not, and of other methods.
    package var contentLength: Int? {
        guard method == .POST else { return nil }
        return headers.first(name: "content-length").flatMap { Int($0) }
    }
}

package enum IntakeReply {
    case answer(HTTPResponseHead, ByteBuffer)
    /// The request goes the way of all others, where it fails for the same reason, if there is one. What it was counted for is given back
    /// just before, and not where nobody is there any more for whom it would be counted again.
    case handOn(failure: FailedRequests.Failure?, givingBack: () -> Void = {})
}
