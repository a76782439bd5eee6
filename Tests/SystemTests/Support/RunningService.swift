import CarillonCore
import Foundation
import NIOHTTP1
import Testing

/// `carillon serve` on ports that the system chose.
struct RunningService: Sendable {
    let program: Program
    let open: TestClient
    let management: TestClient
    let operatorToken: String

    /// Starts a service and waits until both ports are open.
    ///
    /// - Parameters:
    ///   - scratch: The data directory is inside.
    ///   - environment: Variables besides those that every test needs.
    ///   - isReady: Whether to wait until it is ready, too.
    ///   - prelude: What a shell does before it becomes the service.
    /// - Returns: The running service.
    /// - Throws: When it does not start in time.
    static func start(
        in scratch: Scratch,
        environment: [String: String] = [:],
        isReady: Bool = true,
        prelude: String? = nil
    ) async throws -> RunningService {
        let data = scratch.path("data")
        var variables = [
            "CARILLON_LISTEN": "127.0.0.1:0", "CARILLON_MANAGEMENT_LISTEN": "127.0.0.1:0", "CARILLON_DATA_DIR": data,
            "CARILLON_EGRESS_ALLOW": "127.0.0.0/8",
        ]
        variables.merge(environment) { _, given in given }
        let program = try Program(["serve"], environment: variables, scratch: scratch, prelude: prelude)
        let line = try await eventually(within: .seconds(60), "the line that says where it listens") {
            try #require(program.isRunning, "\(program.errorText)")
            return program.errorText.split(separator: "\n").last { line in
                line.contains("public=http") && (!isReady || line.contains("Carillon is ready"))
            }
        }
        let token =
            try variables["CARILLON_OPERATOR_TOKEN"]
            ?? String(contentsOfFile: "\(data)/operator-token", encoding: .utf8)
        return RunningService(
            program: program,
            open: TestClient(base: try #require(address("public", in: line))),
            management: TestClient(base: try #require(address("management", in: line))),
            operatorToken: token.trimmingCharacters(in: .whitespacesAndNewlines)
        )
    }

    var publicPort: Int { open.base.split(separator: ":").last.flatMap { Int($0) } ?? 0 }

    /// Calls as the operator.
    func call(
        _ method: HTTPMethod,
        _ path: String,
        _ body: JSONValue? = nil,
        _ headers: [String: String] = [:]
    ) async throws -> TestClient.Answer {
        try await open.send(method, path, token: operatorToken, headers: headers, body: body?.serialized)
    }

    /// Stops it as an operator does.
    func stop(within limit: Duration = .seconds(25)) async throws -> Int32 {
        program.send(SIGTERM)
        return try await program.exitStatus(within: limit)
    }

    /// What the log provider has written.
    var logLines: [LogLine] { LogLine.lines(of: program.outputText) }

    private static func address(_ name: String, in line: Substring) -> String? {
        line.split(separator: " ").first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
    }
}

struct LogLine: Hashable, Sendable {
    let deviceID: String
    let eventID: String
    let title: String
    let body: String

    /// The complete lines of a text; the last one may be cut off by the end of its writer.
    static func lines(of text: String) -> [LogLine] {
        text.split(separator: "\n").compactMap { line in
            guard let value = try? JSONValue(parsing: String(line)) else { return nil }
            guard let device = value["deviceId"]?.text, let event = value["eventId"]?.text,
                let title = value["title"]?.text, let body = value["body"]?.text
            else { return nil }
            return LogLine(deviceID: device, eventID: event, title: title, body: body)
        }
    }
}
