extension String {
    /// Whether there is nothing in it but white space, controls and what is not shown either.
    package var isBlank: Bool {
        unicodeScalars.allSatisfy { scalar in
            if scalar.isASCII { return scalar <= " " || scalar == "\u{7F}" }
            let properties = scalar.properties
            return properties.isWhitespace || properties.isDefaultIgnorableCodePoint
                || properties.generalCategory == .control
        }
    }
}
