extension String {
    /// This text without what could deceive or disturb where it is shown.
    ///
    /// Control characters (C0, C1, DEL) other than newline and, unless `keepingBidi`, the bidi overrides and isolates
    /// (U+202A–202E, U+2066–2069) are left out; `onOneLine` makes a space of each newline, U+2028 and U+2029.
    /// Everything else stays: joiners and direction marks (U+200C–200F) belong to the spelling of many languages.
    ///
    /// The result ends after the first character that goes beyond `maximumBytes`, so that a cut sees that there was more.
    package func withoutControls(keepingBidi: Bool = false, onOneLine: Bool, maximumBytes: Int = .max) -> String {
        var text = self
        let cleaned = text.withUTF8 { bytes in
            var cleaner = TextCleaner(keepingBidi: keepingBidi, onOneLine: onOneLine, maximumBytes: maximumBytes)
            return cleaner.clean(bytes)
        }
        return cleaned ?? self
    }
}

/// Copies UTF-8 and leaves out what users may not show to others.
///
/// Works on bytes: almost every text is clean, and then one pass over them is all there is to do.
private struct TextCleaner {
    let keepingBidi: Bool
    let onOneLine: Bool
    let maximumBytes: Int
    var result: [UInt8] = []

    /// `nil` when the whole text may stay as it is.
    mutating func clean(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        var run = 0
        var position = 0
        while position < bytes.count, result.count + position - run <= maximumBytes {
            let byte = bytes[position]
            if byte >= 0x20, byte != 0x7F, byte != 0xC2, byte != 0xE2 {
                position += 1
                continue
            }
            switch fate(ofScalarAt: position, in: bytes) {
            case .stays:
                position += 1
            case .goes(let length):
                result += bytes[run..<position]
                position += length
                run = position
            case .becomesSpace(let length):
                result += bytes[run..<position]
                result.append(UInt8(ascii: " "))
                position += length
                run = position
            }
        }
        while position < bytes.count, bytes[position].isContinuation { position += 1 }
        if run == 0, position == bytes.count { return nil }
        result += bytes[run..<position]
        return String(decoding: result, as: UTF8.self)
    }

    private enum Fate {
        case stays
        case goes(length: Int)
        case becomesSpace(length: Int)
    }

    private func fate(ofScalarAt position: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Fate {
        switch bytes[position] {
        case 0x0A:
            return onOneLine ? .becomesSpace(length: 1) : .stays
        case 0xC2:
            return bytes[position + 1] < 0xA0 ? .goes(length: 2) : .stays
        case 0xE2:
            switch (bytes[position + 1], bytes[position + 2]) {
            case (0x80, 0xA8...0xA9): return onOneLine ? .becomesSpace(length: 3) : .stays
            case (0x80, 0xAA...0xAE), (0x81, 0xA6...0xA9): return keepingBidi ? .stays : .goes(length: 3)
            default: return .stays
            }
        default:
            return .goes(length: 1)
        }
    }
}

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

extension UInt8 {
    fileprivate var isContinuation: Bool { self & 0xC0 == 0x80 }
}
