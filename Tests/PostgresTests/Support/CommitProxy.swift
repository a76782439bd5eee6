import Foundation
import Synchronization

@testable import Postgres

/// Stands between clients and the server, and lets something happen to the next COMMIT that comes by.
final class CommitProxy: Sendable {
    /// What happens to a COMMIT.
    enum Fault: Sendable {
        /// It does not reach the server, and the connection ends.
        case commitLost
        /// The server carries it out, and the connection ends before its answer.
        case answerLost
        /// The server carries it out, and its answer never comes.
        case answerHeld
    }

    /// What clients name as the host.
    let directory: String
    private let serverPath: String
    private let listener: Int32
    private let fault = Mutex<Fault?>(nil)
    /// How often clients have sent something.
    let requests = Counter()

    /// A proxy in front of the server whose socket is in a directory.
    init?(serverDirectory: String, port: String) {
        directory = "/tmp/carillon-proxy-\(UUID().uuidString.prefix(8))"
        serverPath = "\(serverDirectory)/.s.PGSQL.\(port)"
        guard mkdir(directory, 0o700) == 0 else { return nil }
        listener = Self.makeSocket()
        let isBound = Self.withAddress("\(directory)/.s.PGSQL.\(port)") { bind(listener, $0, $1) == 0 }
        guard isBound, listen(listener, 16) == 0 else { return nil }
        let started = PosixThread.start { [self] in
            while case let client = accept(listener, nil, nil), client >= 0 { serve(client) }
        }
        guard started else { return nil }
    }

    /// Arms it for the next COMMIT.
    func arm(_ fault: Fault) {
        self.fault.withLock { $0 = fault }
    }

    /// Takes no more clients.
    func close() {
        shutdown(listener, Int32(SHUT_RDWR))
        Foundation.close(listener)
        try? FileManager.default.removeItem(atPath: directory)
    }

    private func serve(_ client: Int32) {
        let server = Self.makeSocket()
        let isConnected = Self.withAddress(serverPath) { connect(server, $0, $1) == 0 }
        let started =
            isConnected
            && PosixThread.start { [self] in
                pump(client, server)
                Foundation.close(client)
                Foundation.close(server)
            }
        if !started {
            Foundation.close(client)
            Foundation.close(server)
        }
    }

    private func pump(_ client: Int32, _ server: Int32) {
        var descriptors = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var isHolding = false
        while poll(&descriptors, 2, -1) > 0 {
            if descriptors[0].revents != 0 {
                guard let bytes = Self.receive(client) else { return }
                requests.increment()
                let fault = bytes.isCommit ? fault.withLock { $0.take() } : nil
                if fault == .commitLost { return }
                guard Self.send(bytes, to: server) else { return }
                if fault == .answerLost {
                    _ = Self.receive(server)
                    return
                }
                if fault == .answerHeld { isHolding = true }
            }
            if descriptors[1].revents != 0 {
                guard let bytes = Self.receive(server) else { return }
                if !isHolding, !Self.send(bytes, to: client) { return }
            }
        }
    }

    private static func receive(_ socket: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(socket, &buffer, buffer.count)
        return count > 0 ? Array(buffer.prefix(count)) : nil
    }

    private static func send(_ bytes: [UInt8], to socket: Int32) -> Bool {
        var start = 0
        while start < bytes.count {
            let count = bytes.withUnsafeBytes { write(socket, $0.baseAddress?.advanced(by: start), $0.count - start) }
            guard count > 0 else { return false }
            start += count
        }
        return true
    }

    private static func makeSocket() -> Int32 {
        #if canImport(Darwin)
            socket(AF_UNIX, SOCK_STREAM, 0)
        #else
            socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #endif
    }

    private static func withAddress<Result>(
        _ path: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

extension [UInt8] {
    /// Whether the statement is in it, which READ COMMITTED is not.
    fileprivate var isCommit: Bool { Data(self).range(of: Data("COMMIT\u{0}".utf8)) != nil }
}
