import Dispatch
import Foundation

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A TCP connection that sends whatever it is told, valid or not.
///
/// The calls block, so they run on threads of their own and not on those of the tests.
struct RawConnection: Sendable {
    private let descriptor: Int32

    /// Connects, talks and hangs up.
    static func with<Result: Sendable>(
        port: Int,
        _ talk: @escaping @Sendable (RawConnection) -> Result
    ) async -> Result {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "raw-connection").async {
                let connection = RawConnection(port: port)
                let result = talk(connection)
                close(connection.descriptor)
                continuation.resume(returning: result)
            }
        }
    }

    /// Makes so many connections, talks, and hangs up all of them.
    static func with<Result: Sendable>(
        port: Int,
        count: Int,
        _ talk: @escaping @Sendable ([RawConnection]) -> Result
    ) async -> Result {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "raw-connections").async {
                let connections = (0..<count).map { _ in RawConnection(port: port) }
                let result = talk(connections)
                for connection in connections { close(connection.descriptor) }
                continuation.resume(returning: result)
            }
        }
    }

    /// Connects, talks and hangs up on the caller's own thread.
    static func talk<Result>(port: Int, _ talk: (RawConnection) -> Result) -> Result {
        let connection = RawConnection(port: port)
        defer { close(connection.descriptor) }
        return talk(connection)
    }

    private init(port: Int) {
        #if canImport(Glibc)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                _ = connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Sends text; `false` when the other side has hung up.
    @discardableResult
    func send(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        var start = 0
        while start < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                #if canImport(Glibc)
                    Glibc.send(
                        descriptor,
                        buffer.baseAddress?.advanced(by: start),
                        buffer.count - start,
                        Int32(MSG_NOSIGNAL)
                    )
                #else
                    Darwin.send(descriptor, buffer.baseAddress?.advanced(by: start), buffer.count - start, 0)
                #endif
            }
            guard count > 0 else { return false }
            start += count
        }
        return true
    }

    /// Does nothing for a while: a sender that takes its time.
    func pause(milliseconds: UInt32) { usleep(milliseconds * 1000) }

    /// Ends what is sent, and goes on reading.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// What comes until the text contains `end`, or until the other side hangs up.
    func receive(until end: String? = nil) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            bytes += buffer[..<count]
            if let end, String(decoding: bytes, as: UTF8.self).contains(end) { break }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
