import CarillonSimulator
import Foundation
import Testing

/// Does what docs/simulator.md tells people to do.
@Suite struct ManualTests {
    @Test func `the request that is made by hand is answered as the manual says`() async throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/simulator.md")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        let number = try #require(lines.firstIndex { $0.hasPrefix("curl ") && $0.contains("/3/device/") })
        let command = lines[number]
        let headers = command.matches(of: /-H '([^:]+): ([^']+)'/).map { (String($0.1), String($0.2)) }
        let body = try #require(command.firstMatch(of: /-d '([^']+)'/)).1
        let path = try #require(command.firstMatch(of: /:PORT(\S+)/)).1
        try await withBench { bench in
            let url = bench.simulator.urls.apnsProduction + path
            let answer = try await bench.post(url, headers: headers, body: Array(body.utf8))
            #expect(String(decoding: answer.body, as: UTF8.self) == lines[number + 1])
        }
    }
}
