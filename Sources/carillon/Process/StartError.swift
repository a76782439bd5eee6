/// Why the service could not be started, or did not keep running, in words that tell the operator what to do.
struct StartError: Error, CustomStringConvertible {
    /// One line or a few.
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
