/// Where a server listens: `127.0.0.1:8080`, `[::1]:0`, `localhost:8080`.
struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// An address or a name, an IPv6 address without its brackets.
    let host: String
    /// The port; with 0 the system chooses one.
    let port: Int

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `host:port`.
    init(_ text: String) throws(InvalidSetting) {
        let expectation = "host:port, such as 127.0.0.1:8080 or [::1]:8080, with a port from 0 to 65535"
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(plainDigits: text[text.index(after: colon)...])
        else { throw .value(text, mustBe: expectation) }
        var host = text[..<colon]
        if host.first == "[", host.last == "]" {
            host = host.dropFirst().dropLast()
            guard host.contains(":") else { throw .value(text, mustBe: expectation) }
        } else if host.contains(":") {
            throw .value(text, mustBe: expectation)
        }
        let isPlain = host.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789.-:%_".unicodeScalars.contains(scalar))
        }
        guard !host.isEmpty, isPlain else { throw .value(text, mustBe: expectation) }
        self.init(host: String(host), port: Int(port))
    }

    /// The text form that `init(_:)` reads.
    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension UInt16 {
    /// Reads digits and nothing else: no sign, no space.
    fileprivate init?(plainDigits text: Substring) {
        guard !text.isEmpty, text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else { return nil }
        self.init(text)
    }
}
