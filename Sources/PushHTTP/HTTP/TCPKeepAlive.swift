import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Has the system find out which connections are gone although nobody said so, as when a firewall on the way has forgotten them.
///
/// Otherwise it would be the first requests after a quiet time that find out, each by its deadline.
enum TCPKeepAlive {
    #if canImport(Glibc)
        private static let idle = TCP_KEEPIDLE
    #else
        private static let idle = TCP_KEEPALIVE
    #endif

    /// After how much silence the other side is asked, after how much more again, both in seconds, and how often until it is gone.
    static let limits: [(option: NIOBSDSocket.Option, value: SocketOptionValue)] = [
        (.init(rawValue: idle), 60), (.init(rawValue: TCP_KEEPINTVL), 15), (.init(rawValue: TCP_KEEPCNT), 3),
    ]
}

extension ClientBootstrap {
    func keepingAlive() -> ClientBootstrap {
        TCPKeepAlive.limits.reduce(channelOption(.socketOption(.so_keepalive), value: 1)) {
            $0.channelOption(.tcpOption($1.option), value: $1.value)
        }
    }
}
