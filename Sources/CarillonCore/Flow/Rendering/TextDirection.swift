enum TextDirection: Sendable, Hashable {
    case leftToRight
    case rightToLeft

    /// The direction of a language's usual script, or of the script that the tag names.
    init(of locale: LocaleTag) {
        let isRightToLeft =
            if let script = locale.script {
                Self.rightToLeftScripts.contains(String(script))
            } else {
                Self.rightToLeftLanguages.contains(String(locale.language))
            }
        self = isRightToLeft ? .rightToLeft : .leftToRight
    }

    /// The direction of the first character that has one (UAX #9, rule P2); `nil` for digits, emoji and punctuation alone.
    init?(firstStrongIn text: String) {
        for scalar in text.unicodeScalars {
            if let direction = scalar.strongDirection {
                self = direction
                return
            }
        }
        return nil
    }

    // CLDR's languages whose likely script runs from right to left.
    private static let rightToLeftLanguages: Set<String> = [
        "ar", "arc", "arq", "ars", "ary", "arz", "azb", "bal", "bgn", "bqi", "ckb", "dv", "fa", "glk", "he", "khw",
        "ks", "lrc", "luz", "mzn", "nqo", "pnb", "prs", "ps", "rhg", "sd", "sdh", "skr", "syr", "ug", "ur", "yi",
    ]

    private static let rightToLeftScripts: Set<String> = [
        "Adlm", "Arab", "Aran", "Hebr", "Mand", "Mend", "Nkoo", "Rohg", "Samr", "Syrc", "Thaa",
    ]
}
