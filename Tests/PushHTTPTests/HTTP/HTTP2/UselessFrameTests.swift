import CarillonCore
import Foundation
import NIOCore
import NIOHPACK
import NIOHTTP2
import Testing

@testable import PushHTTP

/// Servers that keep a connection busy with frames that mean nothing.
@Suite(.timeLimit(.minutes(2))) struct UselessFrameTests {
    /// What such a server sends again and again.
    enum Flood: CaseIterable {
        case windowUpdate, windowUpdateOfStream, unknownType, pingAnswer, ping, settings, settingsAnswer, priority
        case informational, emptyData, smallData

        /// One frame (RFC 9113 section 4.1).
        var bytes: ByteBuffer {
            switch self {
            case .windowUpdate: frame(8, stream: 0, [0, 0, 0, 1])
            case .windowUpdateOfStream: frame(8, [0, 0, 0, 1])
            case .unknownType: frame(0xbb, stream: 0)
            case .pingAnswer: frame(6, flags: 1, stream: 0, Array(repeating: 0, count: 8))
            case .ping: frame(6, stream: 0, Array(repeating: 0, count: 8))
            case .settings: frame(4, stream: 0)
            case .settingsAnswer: frame(4, flags: 1, stream: 0)
            case .priority: frame(2, [0, 0, 0, 0, 1])
            // `:status: 103`, written out (RFC 7541 section 6.2.2).
            case .informational: frame(1, flags: 4, [0x08, 0x03, 0x31, 0x30, 0x33])
            case .emptyData: frame(0)
            case .smallData: frame(0, [0x78])
            }
        }

        private func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 1, _ payload: [UInt8] = []) -> ByteBuffer {
            var bytes = ByteBuffer()
            bytes.writeInteger(UInt32(payload.count) << 8 | UInt32(type))
            bytes.writeInteger(flags)
            bytes.writeInteger(stream)
            bytes.writeBytes(payload)
            return bytes
        }

        /// The beginning of an answer, where the frames are parts of one.
        fileprivate var head: [HTTP2Server.Action] {
            switch self {
            case .emptyData, .smallData: [.head([":status": "200"])]
            default: []
            }
        }

        /// A server that answers SETTINGS that nobody sent breaks the protocol.
        fileprivate var isError: Bool { self == .settingsAnswer }
        /// The server's own side of the protocol breaks with what it sent below it, and does not hear what is answered.
        fileprivate var isDeafening: Bool { isError || self == .settings }
    }

    @Test(arguments: Flood.allCases.filter { !$0.isDeafening })
    func `a server that sends thousands is told to be calm, and has not answered in time`(flood: Flood) async throws {
        try await withHTTP2Server { request in
            request.connection == 0 ? flood.head + [.flood(flood.bytes, times: 4_000)] : [.ok]
        } _: { server, post in
            await #expect(throws: OutboundError.timedOut) { try await post("/", .seconds(3_600)) }
            await server.wait(for: .goneAway(.enhanceYourCalm))
            await server.wait(for: .closed(0))
            let status = try await statusAfterRest(post)
            #expect(status == 200)
            #expect(server.connectionCount == 2)
        }
    }

    /// The status of a request that is not answered before the host was left alone as long as it has to be.
    private func statusAfterRest(_ post: Post) async throws -> Int {
        while true {
            do {
                return try await post("/after", .seconds(60)).status
            } catch OutboundError.timedOut {
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    @Test func `a server that was sent away is not connected to for a while, whoever waits`() async throws {
        try await withHTTP2Server { _ in
            [.flood(Flood.windowUpdate.bytes, times: nil)]
        } _: { server, post in
            await #expect(throws: OutboundError.timedOut) { try await post("/", .seconds(3_600)) }
            let start = ContinuousClock.now
            for _ in 0..<100 {
                await #expect(throws: OutboundError.timedOut) { try await post("/again", .seconds(3_600)) }
            }
            // A second, two, four: one more each time that all of them have passed.
            let seconds = (ContinuousClock.now - start) / Duration.seconds(1)
            #expect(Double(server.connectionCount) <= 2 + log2(1 + seconds))
        }
    }

    @Test(arguments: Flood.allCases)
    func `a connection over which they never end is closed`(flood: Flood) async throws {
        try await withHTTP2Server { request in
            request.connection == 0 ? flood.head + [.flood(flood.bytes, times: nil)] : [.ok]
        } _: { server, post in
            let expected = flood.isError ? OutboundError.malformedAnswer : .timedOut
            await #expect(throws: expected) { try await post("/", .seconds(3_600)) }
            await server.wait(for: .closed(0))
            // Who breaks the protocol is not left alone for that.
            let status = try await statusAfterRest(post)
            #expect(status == 200)
        }
    }

    @Test func `a server that begins with them gets no request`() async throws {
        let authority = TestAuthority()
        let tls = try authority.serverConfiguration(for: .address([127, 0, 0, 1]))
        try await HTTP2Server.answering(tls: tls, beginning: Flood.unknownType.bytes, { _ in [.ok] }) { server, port in
            let client = try OutboundHTTPClient.test(trusting: authority)
            await #expect(throws: OutboundError.timedOut) {
                try await client.post(to: "https://127.0.0.1:\(port)/", timeout: .seconds(60))
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `what else is on its way over the connection has not been answered in time either`() async throws {
        try await withHTTP2Server { request in
            request.path == "/flood" ? [.flood(Flood.windowUpdate.bytes, times: nil)] : [.hold]
        } _: { server, post in
            let held = Task { try await post("/held", .seconds(3_600)) }
            await server.nextRequests(1)
            await #expect(throws: OutboundError.timedOut) { try await post("/flood", .seconds(3_600)) }
            await #expect(throws: OutboundError.timedOut) { try await held.value }
            #expect(server.connectionCount == 1)
        }
    }

    @Test func `what real servers send beside their answers is not held against them`() async throws {
        try await withHTTP2Server({ _ in [.sociable] }) { server, post in
            for _ in 0..<6 {
                let result = try await statuses(of: 500, post)
                #expect(result == [200: 500])
            }
            #expect(server.connectionCount == 1)
        }
    }

    @Test func `a server whose answers are all too long keeps its connection`() async throws {
        let body = String(repeating: "x", count: 200_000)
        try await withHTTP2Server({ _ in [.answer(500, body: body)] }) { server, post in
            for number in 0..<40 {
                let response = try await post("/\(number)", .seconds(60))
                #expect(response.status == 500)
            }
            #expect(server.connectionCount == 1)
        }
    }
}
