package import CarillonCore
package import Hummingbird
import NIOCore

/// What is known of a request besides its head and body.
package struct CarillonRequestContext: RequestContext {
    /// Hummingbird's own part: logger, route and path parameters.
    package var coreContext: CoreRequestContextStorage
    /// The connection, for the few who change how it is treated.
    package let channel: any NIOCore.Channel
    /// What `x-request-id` answers.
    var requestID = ""
    /// Who sent the request, with the word of trusted proxies; `nil` when it did not come over the Internet's protocols.
    ///
    /// Limits are counted by its ``CarillonCore/IPAddress/subscriber``.
    package internal(set) var clientAddress: IPAddress?
    /// Whether the request came over TLS, as a trusted proxy says: what links to the service begin with.
    package internal(set) var isOverTLS = false
    /// Whether nobody on the way could read the request: it came over TLS, as a trusted proxy says, or from this machine.
    package internal(set) var isConfidential = false
    /// Whether so much of what comes from that address proves nothing that no more work is put into it than must be.
    var isSuspect = false

    /// What the request holds while it reads pages; `nil` for those that do not.
    var pageHold: PageHold?

    /// Told who calls, for those who log it.
    package let caller = CallerInfo()
    /// Told what a face makes of it.
    package let face = FaceInfo()

    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

package typealias Next = @concurrent (Request, CarillonRequestContext) async throws -> Response
