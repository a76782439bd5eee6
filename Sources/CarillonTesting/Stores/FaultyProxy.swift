import Foundation
import Synchronization

/// Stands between clients and the server, and lets something happen to one message of theirs.
package final class FaultyProxy: Sendable {
    /// What happens to a message.
    package enum Fault: Sendable {
        /// It does not reach the server, and the connection ends.
        case requestLost
        /// The server gets it, and the connection ends at once.
        case answerUnread
        /// The server carries it out, and the connection ends before its answer.
        case answerLost
        /// The server carries it out, and its answer never comes.
        case answerHeld
    }

    package struct Unusable: Error {}

    private struct State {
        var requests = 0
        var statements = 0
        var fault: Fault?
        var passing = 0
        var isForCommit = false
    }

    /// What clients name as the host.
    package let directory: String
    private let server: String
    private let listener: Int32
    private let state = Mutex(State())

    /// A proxy in front of the server with this socket.
    package init(server: String) throws {
        directory = "/tmp/carillon-proxy-\(UUID().uuidString.prefix(8))"
        self.server = server
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        listener = Self.makeSocket()
        let name = server.split(separator: "/").last ?? ""
        guard Self.withAddress("\(directory)/\(name)", { bind(listener, $0, $1) }) == 0, listen(listener, 16) == 0
        else { throw Unusable() }
        Thread.detachNewThread { [self] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                Thread.detachNewThread { self.serve(client) }
            }
        }
    }

    /// How often clients have sent something.
    package var requests: Int { state.withLock(\.requests) }

    /// How many statements they have had run.
    package var statements: Int { state.withLock(\.statements) }

    /// Arms it for the message after so many, or for the next COMMIT.
    package func arm(_ fault: Fault, after passing: Int = 0, isForCommit: Bool = false) {
        state.withLock { ($0.fault, $0.passing, $0.isForCommit) = (fault, passing, isForCommit) }
    }

    /// Lets everything through again; answers whether something has happened.
    package func disarm() -> Bool { state.withLock { $0.fault.take() } == nil }

    /// Takes no more clients.
    package func close() {
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
        var isHolding = false
        var messages = ClientMessages()
        while poll(&descriptors, 2, -1) > 0 {
            if descriptors[0].revents != 0 {
                guard let bytes = Self.receive(client) else { return }
                let statements = messages.take(bytes)
                state.withLock { $0.statements += statements }
                let fault = due(bytes)
                if fault == .requestLost { return }
                guard Self.send(bytes, to: server), fault != .answerUnread else { return }
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

    private func due(_ bytes: [UInt8]) -> Fault? {
        state.withLock { state in
            state.requests += 1
            guard state.fault != nil, !state.isForCommit || bytes.isCommit else { return nil }
            guard state.passing == 0 else {
                state.passing -= 1
                return nil
            }
            return state.fault.take()
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

extension [UInt8] {
    /// Whether the statement is in it, which READ COMMITTED is not.
    fileprivate var isCommit: Bool { Data(self).range(of: Data("COMMIT\u{0}".utf8)) != nil }
}
