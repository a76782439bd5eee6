extension String {
    /// The longest run of combining marks. No id is long enough for more.
    private static let longestRunOfMarks = 128

    /// A text of a stranger's, as of ``withBoundedMarks``; `nil` for what is no UTF-8.
    package init?(boundingMarksOf bytes: some Sequence<UInt8>) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        self = text.withBoundedMarks
    }

    /// The text with U+034F in longer runs of combining marks, as the stream-safe text process puts it into those of more than 30 (UAX #15,
    /// section 13).
    ///
    /// Whoever compares, splits or hashes a text sorts its marks, in time that grows with the square of a run: strangers' texts come in with
    /// runs that take seconds.
    package var withBoundedMarks: String {
        guard utf8.count > Self.longestRunOfMarks, mayHaveLongRun else { return self }
        var (bounded, run) = (String.UnicodeScalarView(), 0)
        for scalar in unicodeScalars {
            run = scalar.isCombiningMark ? run + 1 : 0
            if run > Self.longestRunOfMarks {
                bounded.append("\u{34F}")
                run = 1
            }
            bounded.append(scalar)
        }
        return String(bounded)
    }

    /// Whether a run that long may be there: of its scalars one has a position that is looked at.
    private var mayHaveLongRun: Bool {
        var position = 0
        return unicodeScalars.contains { scalar in
            position += 1
            return position.isMultiple(of: Self.longestRunOfMarks) && scalar.isCombiningMark
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isCombiningMark: Bool { value >= 0x300 && properties.canonicalCombiningClass != .notReordered }
}
