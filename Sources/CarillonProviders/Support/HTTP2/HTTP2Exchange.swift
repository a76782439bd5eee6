import NIOCore
import NIOHPACK
import Synchronization

/// One request on its way to a connection and through it.
final class HTTP2Exchange: Sendable {
    let headers: HPACKHeaders
    let body: ByteBuffer
    let deadline: NIODeadline
    /// Nobody waits for the answer any more. Set before the connection learns of it, since that may not have got the
    /// request yet.
    let isAbandoned = Atomic(false)

    init(headers: HPACKHeaders, body: ByteBuffer, deadline: NIODeadline) {
        self.headers = headers
        self.body = body
        self.deadline = deadline
    }
}
