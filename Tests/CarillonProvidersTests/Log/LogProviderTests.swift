import CarillonCore
import Dispatch
import Foundation
import Testing

@testable import CarillonProviders

@Suite struct LogProviderTests {
    @Test func `tells a retry from a delivery when nobody reads`() async throws {
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let provider = LogProvider(output: LineWriter(descriptor: pipe.fileHandleForWriting.fileDescriptor))
        let outcomes = await provider.outcomes(of: .example(to: [.log, .log]))
        #expect(outcomes == [.retry(after: nil, reason: "output closed"), .retry(after: nil, reason: "output closed")])
    }

    @Test func `tells a retry from a delivery when the disk is full`() async throws {
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        let provider = LogProvider(output: LineWriter(descriptor: full.fileDescriptor))
        #expect(await provider.outcomes(of: .example(to: [.log])) == [.retry(after: nil, reason: "output full")])
    }

    @Test func `writes the members of the contract in their order`() async throws {
        let output = try await written { provider in
            #expect(
                await provider.outcomes(of: .example(to: [.log, .log])) == [.delivered(id: nil), .delivered(id: nil)]
            )
        }
        let rest =
            #""eventId":"01020304-0506-7008-800a-0b0c0d0e0f10","eventType":"member.joined","title":"Bob","#
            + #""body":"Bob has joined General","locale":"en"}"#
        #expect(
            output == """
                {"deviceId":"d-0","userId":"u-0",\(rest)
                {"deviceId":"d-1","userId":"u-1",\(rest)

                """
        )
    }

    @Test func `keeps everything of a device on one line of JSON`() async throws {
        var group = DeliveryGroup.example(to: [.log], title: "\"\\\u{0}\u{2028}", body: "a\r\nb\t👋🏽\u{7F}")
        group.targets[0].deviceID = DeviceID(trusted: "\"},\n{")
        group.targets[0].userID = UserID(trusted: "\\")
        let output = try await written { [group] provider in await provider.send(group) { _, _ in } }
        #expect(output.utf8.count { $0 == UInt8(ascii: "\n") } == 1)
        let line = try JSONDecoder().decode([String: String].self, from: Data(output.utf8))
        #expect(line["title"] == "\"\\\u{0}\u{2028}")
        #expect(line["body"] == "a\r\nb\t👋🏽\u{7F}")
        #expect(line["deviceId"] == "\"},\n{")
        #expect(line["userId"] == "\\")
        #expect(line.count == 7)
    }

    @Test func `does not mix the lines of groups that are sent at the same time`() async throws {
        let output = try await written { provider in
            await withTaskGroup(of: Void.self) { tasks in
                for number in 0..<20 {
                    let group = DeliveryGroup.example(
                        to: Array(repeating: .log, count: 500),
                        body: String(repeating: "\(number % 10)", count: 300)
                    )
                    tasks.addTask { await provider.send(group) { _, _ in } }
                }
            }
        }
        let lines = output.split(separator: "\n")
        #expect(lines.count == 10_000)
        let bodies = try lines.map { try JSONDecoder().decode([String: String].self, from: Data($0.utf8))["body"] }
        #expect(bodies.allSatisfy { $0.map { Set($0).count == 1 && $0.count == 300 } ?? false })
        #expect(stride(from: 0, to: 10_000, by: 500).allSatisfy { Set(bodies[$0..<$0 + 500]).count == 1 })
    }

    /// What ends up in a regular file.
    private func written(by body: (LogProvider) async throws -> Void) async throws -> String {
        let url = FileManager.default.temporaryDirectory.appending(path: "carillon-\(UUID()).log")
        #expect(FileManager.default.createFile(atPath: url.path, contents: nil))
        defer { try? FileManager.default.removeItem(at: url) }
        let file = try FileHandle(forWritingTo: url)
        try await body(LogProvider(output: LineWriter(descriptor: file.fileDescriptor)))
        return try String(contentsOf: url, encoding: .utf8)
    }
}

@Suite struct LineWriterTests {
    private let pipe = Pipe()
    private let writer: LineWriter

    init() { writer = LineWriter(descriptor: pipe.fileHandleForWriting.fileDescriptor) }

    @Test func `gives up when the reader does not come, and completes the torn line before the next`() async throws {
        // Longer than what goes into a pipe at once, and together more than any pipe holds.
        let lines = Array(
            repeating: Array(repeating: UInt8(ascii: "a"), count: 9_999) + [UInt8(ascii: "\n")],
            count: 200
        )
        let stalled = try #require(await writer.write(Array(lines.joined()), within: .milliseconds(50)))
        #expect(stalled.failure == "output stalled")
        #expect(stalled.written > 0)
        #expect(stalled.written % 10_000 != 0)

        async let read = readToEnd()
        let next = try #require(await writer.write(Array("next\n".utf8), within: .seconds(60)))
        #expect(next.failure == nil)
        #expect(next.written == 5)
        try pipe.fileHandleForWriting.close()
        let received = try await read.split(separator: "\n")
        #expect(received.last == "next")
        #expect(received.dropLast().allSatisfy { $0.count == 9_999 })
        #expect(received.count - 1 == (stalled.written + 9_999) / 10_000)
    }

    @Test func `never tears a line that a pipe takes at once`() async throws {
        let lines = Array(
            repeating: Array(repeating: UInt8(ascii: "a"), count: 699) + [UInt8(ascii: "\n")],
            count: 2_000
        )
        let stalled = try #require(await writer.write(Array(lines.joined()), within: .milliseconds(50)))
        #expect(stalled.written > 0)
        #expect(stalled.written % 700 == 0)
    }

    @Test func `writes all when the reader is slow`() async throws {
        let text = Array(repeating: UInt8(ascii: "b"), count: 1_000_000) + [UInt8(ascii: "\n")]
        async let read = readToEnd()
        let result = try #require(await writer.write(text, within: .seconds(60)))
        #expect(result.failure == nil)
        #expect(result.written == text.count)
        try pipe.fileHandleForWriting.close()
        #expect(try await read.utf8.count == text.count)
    }

    @Test func `copes with a descriptor that does not block`() async throws {
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        #expect(fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0)
        async let read = readToEnd()
        let text = Array(repeating: UInt8(ascii: "c"), count: 500_000) + [UInt8(ascii: "\n")]
        #expect(await writer.write(text, within: .seconds(60))?.written == text.count)
        try pipe.fileHandleForWriting.close()
        #expect(try await read.utf8.count == text.count)
    }

    @Test func `writes nothing for a task that is cancelled already`() async throws {
        let writer = writer
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await writer.write(Array("never\n".utf8), within: .seconds(60))?.written
        }
        #expect(await task.value == nil)
        try pipe.fileHandleForWriting.close()
        #expect(try await readToEnd().isEmpty)
    }

    /// Reads on a thread that may block.
    private func readToEnd() async throws -> String {
        let handle = pipe.fileHandleForReading
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self) })
            }
        }
    }
}
