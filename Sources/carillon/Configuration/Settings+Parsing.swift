import CarillonCore
import CarillonHTTP
import CarillonProviders
import Logging
import NIOSSL
import Postgres

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
                "must be where PostgreSQL is, such as postgres://user:password@host:5432/database?sslmode=require"
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

extension OutboundURL {
    init(setting text: String) throws(InvalidSetting) {
        do throws(EgressRefusal) {
            try self.init(text)
        } catch {
            throw .value(text, mustBe: "an http or https URL (\(error.detail))")
        }
    }
}
