extension String {
    /// This text if it is within both limits, otherwise its beginning with `…` in place of the rest.
    ///
    /// The ellipsis counts. The cut is between grapheme clusters; only a first cluster that alone exceeds `bytes` is cut
    /// inside, between scalars. Isolates that the cut leaves open are closed before the ellipsis. No more of the text
    /// is looked at than the limits let through.
    ///
    /// - Parameters:
    ///   - characters: The most grapheme clusters, at least 1.
    ///   - bytes: The most bytes of UTF-8, at least 3, the length of the ellipsis.
    /// - Returns: The text within both limits.
    package func shortened(toCharacters characters: Int, bytes: Int) -> String {
        // A character has at least one byte.
        guard utf8.count > min(characters, bytes) else { return self }

        let room = bytes - Self.ellipsis.utf8.count
        var end = startIndex
        var count = 0
        var open = 0
        // The longest beginning that leaves room for the ellipsis and for closing what is open.
        var kept = (end: startIndex, open: 0)
        while end < endIndex, count < characters {
            let next = index(after: end)
            let length = utf8.distance(from: startIndex, to: next)
            if count == 0, characters > 1, length > room { kept.end = lastBoundary(within: room) }
            guard length <= bytes else { break }
            open = Self.openIsolates(open, after: unicodeScalars[end])
            end = next
            count += 1
            if count + open < characters, length + 3 * open <= room { kept = (end, open) }
        }
        if end == endIndex { return self }
        return self[..<kept.end] + String(repeating: "\u{2069}", count: kept.open) + Self.ellipsis
    }

    /// How many isolates (UAX #9: LRI, RLI, FSI) are not closed by a PDI; each of these is a cluster of its own.
    private static func openIsolates(_ open: Int, after scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0x2066...0x2068: open + 1
        case 0x2069 where open > 0: open - 1
        default: open
        }
    }

    private static let ellipsis = "…"

    /// The last place between two scalars that is at most `bytes` from the start.
    private func lastBoundary(within bytes: Int) -> Index {
        guard bytes > 0, var index = utf8.index(startIndex, offsetBy: bytes, limitedBy: endIndex) else {
            return startIndex
        }
        while index > startIndex, index < endIndex, utf8[index].isContinuation { utf8.formIndex(before: &index) }
        return index
    }
}
