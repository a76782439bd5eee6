import Dispatch
import Foundation
import Testing

@testable import CarillonProviders

@Suite struct LineWriterTests {
    private let pipe = Pipe()
    private let writer: LineWriter

    init() {
        writer = LineWriter(descriptor: pipe.fileHandleForWriting.fileDescriptor)
    }

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
                continuation.resume(
                    with: Result { String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self) }
                )
            }
        }
    }
}
