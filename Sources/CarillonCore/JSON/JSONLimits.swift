/// How much a JSON text may ask of its parser; its length is the caller's to limit.
package struct JSONLimits: Sendable {
    /// How many arrays and objects may stand inside each other; at most 512, so that no text exhausts the stack.
    package let depth: Int
    /// The longest number literal, in characters.
    package let numberDigits: Int

    /// The limits of API section 3 unless told otherwise.
    package init(depth: Int = 64, numberDigits: Int = 64) {
        self.depth = min(depth, 512)
        self.numberDigits = numberDigits
    }
}
