import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension OutboundError {
    init(connectError error: any Error) {
        switch error {
        case let error as IOError where error.errnoCode == ECONNREFUSED: self = .connectionRefused
        case ChannelError.connectTimeout: self = .timedOut
        default: self = .unreachable
        }
    }

    init(connectionError error: any Error) {
        switch error {
        case let error as OutboundError: self = error
        case is HTTPParserError: self = .malformedAnswer
        case is NIOHTTP2Errors.ExcessivelyLargeHeaderBlock: self = .answerTooLong
        case is any NIOHTTP2Error, is NIOHTTP2Errors.StreamError: self = .malformedAnswer
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: self = .tlsFailed
        default: self = .connectionClosed
        }
    }
}
