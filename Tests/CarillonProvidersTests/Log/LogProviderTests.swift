import CarillonCore
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
