import CarillonCore

extension JSONObjectReader {
    /// Refuses a text that should be what is in a file: says so where it is the file's path.
    func refuse(_ key: String, holding text: String?, _ detail: String) {
        refuse(key, text?.isPathOfFile == true ? String.insteadOfPath : detail)
    }
}

extension String {
    /// What is said of a path that stands where a key should.
    static let insteadOfPath = "is the path of a file: what is in the file is needed"

    private static let longestPath = 512
    private static let beginnings = ["/", "./", "../", "~", "@", "file:"]
    private static let endings = [".p8", ".p12", ".pfx", ".pem", ".key", ".cer", ".crt", ".json"]

    /// Whether it looks like the path of a file; only asked of what is no key.
    var isPathOfFile: Bool {
        guard !isEmpty, utf8.count <= Self.longestPath, !utf8.contains(UInt8(ascii: "\n")) else { return false }
        let text = lowercased()
        return Self.beginnings.contains(where: text.hasPrefix) || Self.endings.contains(where: text.hasSuffix)
    }
}
