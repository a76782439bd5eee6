/// How much a JSON text may ask of its parser; its length is the caller's to limit.
package struct JSONLimits: Sendable {
    /// What becomes of a value that is well-formed and cannot be stored all the same: one that holds U+0000 or half of a surrogate
    /// pair, a number beyond ``numberDigits`` or double precision, or what stands deeper than ``depth``.
    package enum Unstorable: Sendable {
        /// The whole text is refused.
        case refused
        /// Its member or element is left out, for texts in which somebody else than their sender wrote it.
        ///
        /// - Parameters:
        ///   - cleaning: Members whose strings are cleaned instead: people are shown by what is left of them.
        ///   - entirely: Objects of whose members nothing is kept when something in them is left out.
        case leftOut(cleaning: Set<String>, entirely: Set<String> = [])
    }

    /// How many arrays and objects may stand inside each other; at most 512, so that no text exhausts the stack.
    package let depth: Int
    /// The longest number literal, in characters.
    package let numberDigits: Int
    package let unstorable: Unstorable

    /// The limits of API section 3 unless told otherwise.
    package init(depth: Int = 64, numberDigits: Int = 64, unstorable: Unstorable = .refused) {
        self.depth = min(depth, 512)
        self.numberDigits = numberDigits
        self.unstorable = unstorable
    }
}
