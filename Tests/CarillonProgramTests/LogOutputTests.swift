import CarillonCore
import Foundation
import Logging
import Testing

@testable import carillon

@Suite struct LogOutputTests {
    /// A pipe whose reader does nothing unless it is told to.
    private final class UnreadPipe {
        let reader: Int32
        let writer: Int32

        init() throws {
            // A closed pipe must fail the write, as it does in the program, not end the tests.
            signal(SIGPIPE, SIG_IGN)
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0)
            (reader, writer) = (ends[0], ends[1])
        }

        deinit {
            close(writer)
        }

        /// Reads until a line contains `end`; blocks.
        func lines(until end: String) -> [String] {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while !String(decoding: bytes.suffix(4_096), as: UTF8.self).contains(end) {
                let count = read(reader, &buffer, buffer.count)
                guard count > 0 else { break }
                bytes += buffer[..<count]
            }
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    private func logger(_ output: LogOutput) -> Logger {
        Logger(label: "test") { StandardErrorLogHandler(label: $0, format: .text, level: .info, output: output) }
    }

    @Test func `whoever logs is not held up by a pipe that nobody reads, and what is lost is counted`() async throws {
        let pipe = try UnreadPipe()
        let output = LogOutput(descriptor: pipe.writer, limit: 100_000)
        let logger = logger(output)
        // Far more than the pipe and the memory take: this would never end.
        for number in 1...20_000 { logger.info("line", metadata: ["number": "\(number)"]) }
        let dropped = output.dropped
        #expect(dropped > 1_000 && dropped < 20_000)

        let lines = pipe.lines(until: "were dropped")
        #expect(lines.count { $0.contains(" line number=") } == 20_000 - dropped)
        #expect(lines.count { $0.contains("were dropped") } == 1)
        #expect(lines.last?.hasSuffix("lines=\(dropped)") == true)
        logger.info("and on")
        #expect(pipe.lines(until: "and on").count == 1)
        #expect(output.dropped == dropped)
        close(pipe.reader)
    }

    @Test func `lines come in order, and are all there after flushing`() async throws {
        let path = NSTemporaryDirectory() + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        defer { close(file) }
        let output = LogOutput(descriptor: file)
        let logger = logger(output)
        for number in 1...500 { logger.info("line", metadata: ["number": "\(number)"]) }
        await output.flush(within: .seconds(30))
        let numbers = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { line in
            line.split(separator: "=").last.flatMap { Int($0) }
        }
        #expect(numbers == Array(1...500))
    }

    @Test func `a pipe that is closed loses lines and nothing else`() async throws {
        let pipe = try UnreadPipe()
        close(pipe.reader)
        let output = LogOutput(descriptor: pipe.writer)
        logger(output).info("line")
        await output.flush(within: .seconds(30))
        #expect(output.dropped == 1)
    }

    @Test func `flushing gives up on a reader that never comes`() async throws {
        let pipe = try UnreadPipe()
        let output = LogOutput(descriptor: pipe.writer)
        let logger = logger(output)
        for _ in 1...5_000 { logger.info("line") }
        await output.flush(within: .milliseconds(50))
        // Lets the thread go that still writes.
        close(pipe.reader)
    }
}

@Suite struct LogTextTests {
    private func line(_ format: LogFormat, _ metadata: Logger.Metadata) -> String {
        let event = LogEvent(
            level: .warning,
            message: "Something happened",
            metadata: nil,
            source: nil,
            file: "",
            function: "",
            line: 0
        )
        let text = LogText(format: format)
        let time = Timestamp(milliseconds: 1_795_168_800_000)
        return String(decoding: text.line(of: event, label: "carillon", metadata: metadata, at: time), as: UTF8.self)
    }

    @Test func `a text line has time, level, message and sorted metadata`() {
        let line = line(.text, ["b": "two words", "a": "1"])
        #expect(line == "2026-11-20T10:00:00.000Z warning Something happened a=1 b=\"two words\"\n")
    }

    @Test(arguments: [LogFormat.text, .json])
    func `a value cannot begin a line of its own`(format: LogFormat) {
        let line = line(format, ["a": "x\n2026-11-20T10:00:00.000Z error Forged\u{1B}[2J"])
        #expect(line.count { $0 == "\n" } == 1)
        #expect(!line.contains("\u{1B}"))
    }

    @Test func `a value gives a terminal no orders, and turns no text around`() {
        let line = line(.text, ["a": "x\u{9B}31m\u{9D}0;T\u{9C}\u{202E}y\u{2028}z"])
        #expect(line.hasSuffix(#" a="x\u{9B}31m\u{9D}0;T\u{9C}\u{202E}y\u{2028}z""# + "\n"))
    }

    @Test func `a JSON line is JSON`() throws {
        let line = line(.json, ["a": "say \"hi\"", "b": ["nested", "list"]])
        let value = try JSONValue(parsing: line)
        #expect(
            value == [
                "time": "2026-11-20T10:00:00.000Z", "level": "warning", "logger": "carillon",
                "message": "Something happened", "metadata": ["a": "say \"hi\"", "b": "[\"nested\", \"list\"]"],
            ]
        )
    }

    @Test(arguments: [LogFormat.text, .json])
    func `a value is cut`(format: LogFormat) {
        #expect(line(format, ["a": .string(String(repeating: "x", count: 100_000))]).count < 1_200)
    }
}
