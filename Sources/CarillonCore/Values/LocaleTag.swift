/// The name of a language as templates are filed under it: a BCP 47 tag in its usual spelling, such as `zh-Hant-TW`.
///
/// Reading is generous about what devices send: any case, `_` for `-`, and what follows `@` or `.` in POSIX and ICU
/// names is left out. The three language codes that Java still uses after their withdrawal get their present form.
/// At most 35 bytes (RFC 5646 section 4.4.1).
package struct LocaleTag: Hashable, Sendable, Comparable, CustomStringConvertible {
    package static let maximumBytes = 35

    /// The last resort of every fallback.
    package static let english = LocaleTag(wellFormed: "en")

    /// The tag: language in lower case, script capitalised, region in upper case (RFC 5646 section 2.1.1).
    package let rawValue: String

    package init?(_ text: String) {
        let name = text.utf8.prefix { $0 != UInt8(ascii: "@") && $0 != UInt8(ascii: ".") }
        guard (2...Self.maximumBytes).contains(name.count) else { return nil }
        let separators: (UInt8) -> Bool = { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        var tag = ""
        var afterSingleton = false
        var endsInSingleton = false
        for part in name.split(omittingEmptySubsequences: false, whereSeparator: separators) {
            guard let subtag = Self.subtag(part, first: tag.isEmpty, afterSingleton: afterSingleton) else { return nil }
            endsInSingleton = part.count == 1 && !afterSingleton
            afterSingleton = afterSingleton || part.count == 1
            if !tag.isEmpty { tag.append("-") }
            tag.append(subtag)
        }
        // A single letter only introduces what follows it.
        guard !endsInSingleton else { return nil }
        rawValue = tag
    }

    private init(wellFormed tag: String) {
        rawValue = tag
    }

    package var description: String { rawValue }

    package static func < (left: Self, right: Self) -> Bool {
        left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
    }

    /// The language, in lower case.
    var language: Substring { rawValue.prefix { $0 != "-" } }

    var script: Substring? {
        let subtags = rawValue.split(separator: "-").dropFirst().prefix { $0.utf8.count > 1 }
        return subtags.first { $0.utf8.count == 4 && !$0.hasDigit }
    }

    /// This tag, then what is left without its last parts: `zh-Hant-TW`, `zh-Hant`, `zh` (RFC 4647 section 3.4).
    ///
    /// Where Chinese is written in traditional characters, `zh-Hant` goes before `zh`, whether the tag says so or not.
    package var fallbackChain: [LocaleTag] {
        var chain = [self]
        var rest = rawValue[...]
        while let hyphen = rest.lastIndex(of: "-") {
            let longer = rest
            rest = rest[..<hyphen]
            if rest == "zh", Self.traditionalChinese.contains(String(longer)) {
                chain.append(LocaleTag(wellFormed: "zh-Hant"))
            }
            chain.append(LocaleTag(wellFormed: String(rest)))
        }
        return chain
    }

    private static func subtag(_ bytes: Substring.UTF8View, first: Bool, afterSingleton: Bool) -> String? {
        guard (1...8).contains(bytes.count), bytes.allSatisfy(\.isASCIIAlphanumeric) else { return nil }
        let lowercased = Substring(bytes).lowercased()
        if first {
            guard bytes.count > 1, bytes.allSatisfy(\.isASCIILetter) else { return nil }
            return withdrawnLanguages[lowercased] ?? lowercased
        }
        if afterSingleton { return lowercased }
        switch bytes.count {
        case 2: return lowercased.uppercased()
        case 4 where !lowercased[...].hasDigit: return lowercased.prefix(1).uppercased() + lowercased.dropFirst()
        default: return lowercased
        }
    }

    private static let traditionalChinese: Set<String> = ["zh-HK", "zh-MO", "zh-TW"]
    private static let withdrawnLanguages = ["in": "id", "iw": "he", "ji": "yi"]
}

extension Substring {
    fileprivate var hasDigit: Bool { utf8.contains(where: \.isASCIIDigit) }
}
