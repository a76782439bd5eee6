import Foundation

struct GeneratedFiles: Sendable {
    let directory: String
    private let isTemporary: Bool

    /// Keeps them in a folder, which is made; without one they are in a folder that ``remove()`` removes.
    init(directory: String?) throws(SimulatorError) {
        isTemporary = directory == nil
        let temporary = FileManager.default.temporaryDirectory
        self.directory = directory ?? temporary.appending(path: "carillon-simulator-\(UUID().uuidString)").path
        do {
            try FileManager.default.createDirectory(atPath: self.directory, withIntermediateDirectories: true)
        } catch {
            throw SimulatorError.cannotWrite(path: self.directory)
        }
    }

    /// Writes a file that only its owner can read, and answers its path.
    func write(_ text: String, to name: String) throws(SimulatorError) -> String {
        let path = "\(directory)/\(name)"
        // Replaced rather than written over: its permissions might be wider.
        try? FileManager.default.removeItem(atPath: path)
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: path, contents: Data(text.utf8), attributes: attributes) else {
            throw SimulatorError.cannotWrite(path: path)
        }
        return path
    }

    func remove() {
        if isTemporary { try? FileManager.default.removeItem(atPath: directory) }
    }
}
