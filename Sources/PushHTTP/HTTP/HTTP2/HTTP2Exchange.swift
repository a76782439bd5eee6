import struct CarillonCore.OutboundURL
import NIOCore
import NIOHPACK
import Synchronization

/// One request on its way to a connection and through it.
final class HTTP2Exchange: Sendable {
    let headers: HPACKHeaders
    let body: ByteBuffer
    let deadline: NIODeadline
    /// Whether to send it, asked when it gets its stream.
    let isStillWanted: @Sendable () -> Bool
    /// Told the answer before its stream is another's.
    let whenAnswered: (@Sendable (OutboundResponse) -> Void)?
    /// It is not to be sent any more.
    let isAbandoned = Atomic(false)

    init(_ request: OutboundRequest, to url: OutboundURL, until deadline: NIODeadline) {
        headers = HPACKHeaders(request, to: url)
        body = ByteBuffer(bytes: request.body)
        self.deadline = deadline
        isStillWanted = request.isStillWanted
        whenAnswered = request.whenAnswered
    }
}
