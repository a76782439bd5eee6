import CarillonCore
import CarillonTesting
import Foundation
import HTTPTypes
import NIOCore
import Synchronization
import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

/// How much room and how many limiter imports get.
@Suite struct ImportLimitTests {
    private static let type = "application/x-ndjson"
    private static let line = #"{"user":{"id":"bob"}}"#

    @Test func `an import over the limit is refused, and nothing is imported or left behind`() async throws {
        let path = NSTemporaryDirectory() + "carillon-spool-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await withAPI(spools: SpoolDirectory(path: path, limit: 1_000_000, reserve: 0)) { api in
            let network = try await api.makeNetwork()
            let body = Array(repeating: Self.line, count: 50_000).joined(separator: "\n")
            let answer = try await network.call(.post, "import", body, type: Self.type)
            #expect(answer.refusal == "413 content-too-large")
            #expect(try await network.call(.get, "users/bob").status == 404)
        }
        #expect((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] == [])
    }

    @Test func `lines without content count, and take no memory while nothing follows them`() async throws {
        let directory = SpoolDirectory(path: NSTemporaryDirectory(), limit: 1_000_000, reserve: 0)
        let addresses = DeviceAddressReader(egress: .unrestricted, webPushHosts: WebPushHosts(["*"]))
        let devices = DeviceReader(now: Timestamp(milliseconds: 0), addresses: addresses)
        let newlines = ByteBuffer(repeating: UInt8(ascii: "\n"), count: 100_000)
        let spool = try ImportSpool(in: directory, devices: devices)
        let tally = try await spool.fill { take in
            for _ in 0..<9 { try take(newlines) }
            try take(ByteBuffer(string: Self.line))
        }
        #expect(tally.users == 1)
        #expect(try spool.nextBatch()?.count == 1)
        let refusal = await #expect(throws: Problem.self) {
            _ = try await ImportSpool(in: directory, devices: devices).fill { take in
                for _ in 0..<11 { try take(newlines) }
            }
        }
        #expect(refusal?.status == .contentTooLarge)
    }

    @Test func `an import that the disk has no room for is refused in plain words`() async throws {
        try await withAPI(spools: SpoolDirectory(path: NSTemporaryDirectory(), reserve: .max / 2)) { api in
            let network = try await api.makeNetwork()
            let answer = try await network.call(.post, "import", Self.line, type: Self.type)
            #expect(answer.refusal == "507 insufficient-storage")
            #expect(try await network.call(.get, "users/bob").status == 404)
        }
    }

    @Test func `what a crash has left is removed at the start, and nothing else`() throws {
        let path = NSTemporaryDirectory() + "carillon-spool-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let directory = SpoolDirectory(path: path)
        directory.removeLeftovers()
        try directory.prepare()
        for file in ["carillon-import-abc123", "other"] {
            #expect(FileManager.default.createFile(atPath: "\(path)/\(file)", contents: Data([1])))
        }
        directory.removeLeftovers()
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["other"])
    }

    @Test func `a network's second import is refused while one runs, another network's is not`() async throws {
        let limiter = ImportLimiter()
        try await limiter.importing(into: NetworkID(trusted: "a")) {
            await #expect(throws: Problem.importRunning) {
                try await limiter.importing(into: NetworkID(trusted: "a")) {}
            }
            try await limiter.importing(into: NetworkID(trusted: "b")) {}
        }
        try await limiter.importing(into: NetworkID(trusted: "a")) {}
    }

    @Test
    func `few imports write at a time, and the next one does when one of them ends, however that is`() async throws {
        struct Failure: Error {}
        let limiter = ImportLimiter()
        let writing = Mutex((now: 0, most: 0, ended: 0))
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<12 {
                group.addTask { @Sendable in
                    try? await limiter.writing(into: NetworkID(trusted: "\(number)")) {
                        writing.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.ended) }
                        await Task.yield()
                        writing.withLock { $0 = ($0.now - 1, $0.most, $0.ended + 1) }
                        if number % 3 == 0 { throw Failure() }
                    }
                }
            }
        }
        let result = writing.withLock { $0 }
        #expect(result.now == 0)
        #expect(result.most == ImportLimiter.atOnce)
        #expect(result.ended == 12)
    }

    @Test func `an import that waits for too long is refused`() async throws {
        let limiter = ImportLimiter(patience: .milliseconds(1))
        let (a, b, c) = (NetworkID(trusted: "a"), NetworkID(trusted: "b"), NetworkID(trusted: "c"))
        try await limiter.writing(into: a) {
            try await limiter.writing(into: b) {
                await #expect(throws: Problem.tooManyImports) { try await limiter.writing(into: c) {} }
            }
        }
        try await limiter.writing(into: c) {}
    }

    @Test func `an import that runs into a limit says that its beginning may have been applied`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            try await api.setLimits(#"{"tags":1}"#)
            let lines = [Self.line] + ["a", "b"].map { #"{"tag":{"id":"\#($0)"}}"# }
            let answer = try await network.call(.post, "import", lines.joined(separator: "\n"), type: Self.type)
            #expect(answer.refusal == "409 limit-reached")
            #expect(answer.string("detail")?.hasPrefix("tags is 1, and a part of the import may") == true)
        }
    }

    @Test(arguments: [1, 3, 10, 100, 10_000])
    func `a filter has all its elements, and few others`(count: Int) {
        let trials = max(1, 1_000 / count)
        var mistakes = 0
        for trial in 0..<trials {
            var filter = BloomFilter(capacity: count)
            for number in 0..<count { filter.insert("device-\(trial)-\(number)") }
            #expect((0..<count).allSatisfy { filter.contains("device-\(trial)-\($0)") })
            mistakes += (0..<100_000 / trials).count { filter.contains("stranger-\(trial)-\($0)") }
        }
        #expect(mistakes < 10)
    }
}
