enum Release {
    /// The version of the program and of its API.
    static let version = "0.1.0"
}
