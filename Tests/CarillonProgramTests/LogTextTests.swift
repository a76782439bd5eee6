import CarillonCore
import Logging
import Testing

@testable import carillon

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
