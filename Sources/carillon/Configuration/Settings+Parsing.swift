import CarillonCore
import CarillonEdge
import CarillonHTTP
import CarillonProviders
import Logging
import NIOSSL
import Postgres
import PushHTTP

extension Logger.Level {
    init(setting text: String) throws(InvalidSetting) {
        guard let level = Self(rawValue: text.lowercased()) else {
            throw .value(text, mustBe: "one of \(Self.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self = level
    }
}

extension LogFormat {
    init(setting text: String) throws(InvalidSetting) {
        guard let format = Self(rawValue: text.lowercased()) else {
            throw .value(text, mustBe: Self.allCases.map(\.rawValue).joined(separator: " or "))
        }
        self = format
    }
}

extension Bool {
    init(onOrOff text: String) throws(InvalidSetting) {
        switch text.lowercased() {
        case "on": self = true
        case "off": self = false
        default: throw .value(text, mustBe: "on or off")
        }
    }
}

extension [CIDRBlock] {
    init(setting text: String) throws(InvalidSetting) {
        self = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let block = part.drop(while: \.isWhitespace)
            do throws(CIDRError) {
                append(try CIDRBlock(String(block.prefix { !$0.isWhitespace })))
            } catch {
                throw InvalidSetting("must be a list of address blocks with commas between them: \(error)")
            }
        }
    }
}

extension TrustedProxies {
    /// Reads blocks of addresses, or `none`.
    init(setting text: String) throws(InvalidSetting) {
        self = text == "none" ? .none : TrustedProxies(try [CIDRBlock](setting: text))
    }
}

extension CORSOrigins {
    /// Reads origins with commas between them, or `*`.
    init(setting text: String) throws(InvalidSetting) {
        if text == "*" {
            self = .all
            return
        }
        var origins: Set<String> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let origin = String(part.drop(while: \.isWhitespace).prefix { !$0.isWhitespace })
            guard let canonical = Self.canonical(origin) else {
                throw .value(origin, mustBe: "*, or origins with commas between them such as https://chat.example")
            }
            guard canonical == origin else { throw .value(origin, mustBe: "as browsers write it, \(canonical)") }
            origins.insert(canonical)
        }
        self = .named(origins)
    }

    /// An origin as browsers write it (RFC 6454 section 6.2); `nil` when it is none.
    private static func canonical(_ origin: String) -> String? {
        if let url = try? OutboundURL(origin) { return url.origin }
        // Apps with a web view inside have schemes of their own, such as capacitor://localhost.
        let parts = origin.split(separator: "://", omittingEmptySubsequences: false)
        let isOrigin =
            parts.count == 2 && !["http", "https"].contains(parts[0])
            && parts.allSatisfy { part in
                !part.isEmpty && part.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789.-+".utf8.contains($0) }
            }
        return isOrigin ? origin : nil
    }
}

extension TLSConfiguration {
    init(setting path: String) throws(InvalidSetting) {
        do throws(ExtraRootsError) {
            self = try .outbound(extraRoots: path)
        } catch {
            throw InvalidSetting("is \(path.debugDescription), but \(error)")
        }
    }
}

extension PostgresConfiguration {
    init(setting text: String) throws(InvalidSetting) {
        do throws(PostgresError) {
            try self.init(url: text)
        } catch {
            throw InvalidSetting(
                "must be where PostgreSQL is, such as postgres://user:password@host:5432/database?sslmode=require: \(error.reason)"
            )
        }
    }
}

extension Secret {
    /// The shortest operator token, in characters.
    private static let shortestToken = 32
    /// The longest operator token, in characters.
    private static let longestToken = 1024

    init(operatorToken text: String) throws(InvalidSetting) {
        let isVisible = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isVisible, (Self.shortestToken...Self.longestToken).contains(text.utf8.count) else {
            throw InvalidSetting("must have \(Self.shortestToken) to \(Self.longestToken) visible ASCII characters")
        }
        self.init(text)
    }
}

enum LogFormat: String, CaseIterable, Sendable {
    /// For people: `2026-11-20T10:00:00.000Z info Sentence key=value`.
    case text
    /// For machines: a JSON object a line.
    case json
}
