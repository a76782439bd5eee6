import CarillonCore
import CarillonEdge
import CarillonHTTP
import CarillonTesting
import Foundation
import Hummingbird
import HummingbirdTesting
import NIOCore
import Testing

/// What only shows on a real connection.
@Suite(.server()) struct WireTests {
    private let network: Credentials = lent()
    private let port: Int

    init() throws { port = try #require(network.api.client.port) }

    /// What comes back for some bytes.
    private func ask(_ text: String, until end: String? = nil) async -> String {
        await RawConnection.with(port: port) { connection in
            connection.send(text)
            return connection.receive(until: end)
        }
    }

    private static func head(_ path: String, _ network: Credentials, _ more: String) -> String {
        "PUT \(network.path(path)) HTTP/1.1\r\nhost: x\r\nauthorization: Bearer \(network.adminKey)\r\n\(more)\r\n\r\n"
    }

    @Test(.server(deadline: .milliseconds(300)))
    func `a body that trickles in is 408, and the connection is closed`() async throws {
        let answer = await RawConnection.with(port: port) { connection in
            connection.send(Self.head("users/bob", network, "content-length: 1000"))
            for _ in 0..<3 { connection.send("{") }
            return connection.receive()
        }
        #expect(answer.hasPrefix("HTTP/1.1 408 "))
        #expect(answer.contains("/problems/request-timeout"))
        #expect(answer.lowercased().contains("x-request-id: "))
        #expect(answer.lowercased().contains("connection: close"))
    }

    @Test func `whoever wants a tunnel is told that the connection ends, since nothing more is read on it`()
        async throws
    {
        let answer = await ask(
            "CONNECT evil:80 HTTP/1.1\r\nhost: x\r\n\r\nGET /openapi.yaml HTTP/1.1\r\nhost: x\r\n\r\n"
        )
        #expect(answer.hasPrefix("HTTP/1.1 4"))
        #expect(answer.lowercased().contains("connection: close"))
        #expect(!answer.contains("HTTP/1.1 200"))
    }

    @Test func `a head that never ends is cut off`() async throws {
        var settings = ServerSettings()
        settings.headTimeout = .milliseconds(300)
        try await withAPI(.live, settings: settings) { api in
            let port = try #require(api.client.port)
            let answer = await RawConnection.with(port: port) { connection in
                connection.send("GET /openapi.yaml HTTP/1.1\r\nhost: x\r\nx-slow: ")
                return connection.receive()
            }
            #expect(answer.isEmpty)
        }
    }

    @Test func `a chunked body over its limit is 413`() async throws {
        let answer = await RawConnection.with(port: port) { connection in
            connection.send(Self.head("users/bob", network, "transfer-encoding: chunked"))
            let chunk = "1000\r\n" + String(repeating: " ", count: 4096) + "\r\n"
            for _ in 0..<17 { connection.send(chunk) }
            return connection.receive(until: "}")
        }
        #expect(answer.hasPrefix("HTTP/1.1 413 "))
    }

    @Test func `an announced length over the limit is 413 before it is sent`() async throws {
        let answer = await RawConnection.with(port: port) { connection in
            connection.send(Self.head("users/bob", network, "content-length: 99999999"))
            return connection.receive(until: "}")
        }
        #expect(answer.hasPrefix("HTTP/1.1 413 "))
    }

    @Test(.server(deadline: .milliseconds(300)))
    func `the rest of a refused body is not waited for for ever`() async throws {
        let start = ContinuousClock.now
        let answer = await ask(Self.head("users/bob", network, "content-length: 99999999") + "x")
        #expect(answer.hasPrefix("HTTP/1.1 413 "))
        #expect(ContinuousClock.now - start < .seconds(10))
    }

    @Test(arguments: [
        ("content-length: 100", #"{"displayName":"#), ("transfer-encoding: chunked", "2\r\n{}\r\n"),
        ("content-length: 100", "{}"),
    ])
    func `a body that ends early changes nothing`(framing: String, part: String) async throws {
        _ = await RawConnection.with(port: port) { connection in
            connection.send(Self.head("users/bob", network, framing) + part)
            connection.finish()
            return connection.receive()
        }
        #expect(try await network.call(.get, "users/bob").status == 404)
    }

    @Test func `an import whose connection is lost imports nothing`() async throws {
        for framing in ["content-length: 1000", "transfer-encoding: chunked"] {
            _ = await RawConnection.with(port: port) { connection in
                let line = #"{"user":{"id":"bob"}}"# + "\n"
                let chunk = framing.hasPrefix("t") ? "\(String(line.utf8.count, radix: 16))\r\n\(line)\r\n" : line
                connection.send(
                    Self.head("import", network, framing + "\r\ncontent-type: application/x-ndjson")
                        .replacing("PUT", with: "POST") + chunk
                )
                connection.finish()
                return connection.receive()
            }
            #expect(try await network.call(.get, "users/bob").status == 404)
        }
    }

    @Test(.server(deadline: .seconds(8)))
    func `an import may take longer than other requests, as long as it goes on`() async throws {
        let answer = await RawConnection.with(port: port) { connection in
            let head = Self.head("import", network, "transfer-encoding: chunked\r\ncontent-type: application/x-ndjson")
            connection.send(head.replacing("PUT", with: "POST"))
            for number in 0..<4 {
                let line = #"{"user":{"id":"\#(number)"}}"# + "\n"
                connection.send("\(String(line.utf8.count, radix: 16))\r\n\(line)\r\n")
                connection.pause(milliseconds: 2100)
            }
            connection.send("0\r\n\r\n")
            return connection.receive(until: "}")
        }
        #expect(answer.contains(#"{"users":4,"#))
    }

    @Test func `large heads are 431, not a broken connection`() async throws {
        for more in [
            "x-large: " + String(repeating: "a", count: 100_000),
            (0..<100).map { "x-\($0): 1" }.joined(separator: "\r\n"),
        ] {
            let answer = await ask("GET /openapi.yaml HTTP/1.1\r\nhost: x\r\n\(more)\r\n\r\n", until: "}")
            #expect(answer.hasPrefix("HTTP/1.1 431 "))
        }
    }

    @Test func `an id of 100 KB is 400`() async throws {
        let answer = await RawConnection.with(port: port) { connection in
            let head =
                Self.head("users/" + String(repeating: "a", count: 100_000), network, "content-length: 2") + "{}"
            connection.send(head)
            return connection.receive(until: "}")
        }
        #expect(answer.hasPrefix("HTTP/1.1 400 "))
        #expect(answer.contains("invalid-id"))
    }

    @Test func `pipelined requests are answered in order`() async throws {
        let answer = await RawConnection.with(port: port) { connection in
            let one = Self.head("users/a", network, "content-length: 2") + "{}"
            let two = Self.head("users/b", network, "content-length: 1") + "{"
            let three = Self.head("users/c", network, "content-length: 2\r\nconnection: close") + "{}"
            connection.send(one + two + three)
            return connection.receive()
        }
        let statuses = answer.split(separator: "HTTP/1.1 ").map { $0.prefix(3) }
        #expect(statuses == ["201", "400", "201"])
    }

    @Test(arguments: [
        "\u{0}\u{0}\u{0}\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET /openapi.yaml HTTP/1.1\r\nbad header\r\n\r\n",
        "GET /openapi.yaml HTTP/1.1\r\n\r\n", "NONSENSE / HTTP/1.1\r\nhost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
    ])
    func `what is no HTTP is a problem with an id, and the connection is closed`(text: String) async throws {
        let answer = await ask(text)
        #expect(answer.hasPrefix("HTTP/1.1 400 "))
        #expect(answer.contains("/problems/malformed-request"))
        #expect(answer.lowercased().contains("x-request-id: "))
    }

    @Test func `a body that breaks the framing is a problem with an id`() async throws {
        let answer = await ask(Self.head("users/bob", network, "transfer-encoding: chunked") + "nonsense\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 400 "))
        #expect(answer.contains("/problems/incomplete-body"))
        #expect(answer.components(separatedBy: "HTTP/1.1 ").count == 2, "one answer")
    }

    @Test func `HTTP 1_0 is answered and closed`() async throws {
        let answer = await ask("GET /openapi.yaml HTTP/1.0\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.0 200 "))
        #expect(answer.hasSuffix("openapi: 3.1.0\n"))
    }

    @Test func `who would rather speak HTTP2 is answered and told to come again, as Java's client does`() async throws {
        let answer = await RawConnection.with(port: port) { connection in
            connection.send(
                "GET /openapi.yaml HTTP/1.1\r\nhost: x\r\nconnection: Upgrade, HTTP2-Settings\r\n"
                    + "upgrade: h2c\r\nhttp2-settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\n\r\n"
            )
            return connection.receive()
        }
        #expect(answer.hasPrefix("HTTP/1.1 200 "))
        #expect(answer.lowercased().contains("connection: close"))
    }

    @Test func `who expects 100-continue is told to go on`() async throws {
        let answer = await RawConnection.with(port: port) { connection in
            connection.send(Self.head("users/bob", network, "content-length: 2\r\nexpect: 100-continue"))
            let first = connection.receive(until: "\r\n\r\n")
            connection.send("{}")
            return first + connection.receive(until: "}")
        }
        #expect(answer.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 "))
    }

    @Test func `silent connections keep nobody out, however many they are`() async throws {
        var settings = ServerSettings()
        settings.connections = 24
        try await withAPI(.live, settings: settings) { api in
            let port = try #require(api.client.port)
            let answer = await RawConnection.with(port: port, count: 100) { connections in
                for connection in connections { connection.send("GET /openapi.yaml HTTP/1.1\r\nhost: x\r\nx-slow: ") }
                return RawConnection.talk(port: port) { connection in
                    connection.send("GET /openapi.yaml HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
                    return connection.receive()
                }
            }
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test func `one address has an eighth of the places, unless it is a trusted proxy's`() async throws {
        var settings = ServerSettings()
        settings.connections = 24
        for (proxies, isHeard) in [(TrustedProxies.none, false), (.loopback, true)] {
            settings.trustedProxies = proxies
            try await withAPI(.live, settings: settings) { api in
                let port = try #require(api.client.port)
                let answer = await RawConnection.with(port: port) { first in
                    let request = "GET /openapi.yaml HTTP/1.1\r\nhost: x\r\n\r\n"
                    func ask(_ connection: RawConnection) -> String {
                        connection.send(request)
                        return connection.receive(until: "3.1.0")
                    }
                    _ = ask(first)
                    // An answer says that the connection was counted.
                    return RawConnection.talk(port: port) { second in
                        _ = ask(second)
                        return RawConnection.talk(port: port) { third in
                            _ = ask(third)
                            return RawConnection.talk(port: port) { fourth in
                                _ = ask(fourth)
                                return ask(first)
                            }
                        }
                    }
                }
                #expect(answer.hasPrefix("HTTP/1.1 200 ") == isHeard)
            }
        }
    }
}

extension Trait where Self == Lending<Credentials> {
    /// A service on a port of its own.
    fileprivate static func server(deadline: TimeAmount = .seconds(15)) -> Self {
        var settings = ServerSettings()
        settings.requestDeadline = deadline
        return acme { [settings] in try await withAPI(.live, settings: settings, $0) }
    }
}
