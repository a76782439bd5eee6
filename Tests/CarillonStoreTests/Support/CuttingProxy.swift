import Foundation
import Synchronization

/// Stands between a client and the server, and cuts the connection once, where it is told to.
final class CuttingProxy: Sendable {
    /// Where the connection is cut.
    struct Cut: Sendable {
        /// How many messages of clients pass before.
        var passing: Int
        /// Whether the server still gets the next one, so that only its answer is lost.
        var isAnswerLost: Bool
    }

    struct Unusable: Error {}

    /// What clients name as the host.
    let directory: String
    private let server: String
    private let listener: Int32
    private let cut = Mutex<Cut?>(nil)

    /// A proxy in front of the server with this socket.
    init(server: String) throws {
        directory = "/tmp/carillon-cut-\(UUID().uuidString.prefix(8))"
        self.server = server
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        listener = Self.makeSocket()
        let name = server.split(separator: "/").last ?? ""
        guard Self.withAddress("\(directory)/\(name)", { bind(listener, $0, $1) }) == 0, listen(listener, 16) == 0
        else {
            throw Unusable()
        }
        Thread.detachNewThread { [self] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                Thread.detachNewThread { self.serve(client) }
            }
        }
    }

    func arm(_ cut: Cut) {
        self.cut.withLock { $0 = cut }
    }

    /// Cuts nothing any more; answers whether it has.
    func disarm() -> Bool {
        cut.withLock { $0.take() } == nil
    }

    /// How many messages of clients still pass.
    var passing: Int { cut.withLock { $0?.passing ?? 0 } }

    /// Takes no more clients.
    func close() {
        shutdown(listener, Int32(SHUT_RDWR))
        Foundation.close(listener)
        try? FileManager.default.removeItem(atPath: directory)
    }

    private func serve(_ client: Int32) {
        let server = Self.makeSocket()
        defer {
            Foundation.close(client)
            Foundation.close(server)
        }
        guard Self.withAddress(self.server, { connect(server, $0, $1) }) == 0 else { return }
        var descriptors = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while poll(&descriptors, 2, -1) > 0 {
            if descriptors[0].revents != 0 {
                guard let bytes = Self.receive(client) else { return }
                let cut = due()
                guard cut?.isAnswerLost != false, Self.send(bytes, to: server), cut == nil else { return }
            }
            if descriptors[1].revents != 0 {
                guard let bytes = Self.receive(server), Self.send(bytes, to: client) else { return }
            }
        }
    }

    /// The cut, where it is this message's turn.
    private func due() -> Cut? {
        cut.withLock { cut in
            guard let passing = cut?.passing else { return nil }
            guard passing == 0 else {
                cut?.passing -= 1
                return nil
            }
            return cut.take()
        }
    }

    private static func receive(_ socket: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(socket, &buffer, buffer.count)
        return count > 0 ? Array(buffer.prefix(count)) : nil
    }

    private static func send(_ bytes: [UInt8], to socket: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(socket, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
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

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
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
