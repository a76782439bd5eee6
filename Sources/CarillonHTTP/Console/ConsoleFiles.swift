import Crypto
import Foundation
import NIOCore

/// The files of the console, read once and kept in memory.
package struct ConsoleFiles: Sendable {
    struct File: Sendable {
        let mediaType: String
        /// The strong tag of its bytes (RFC 9110 section 8.8.3).
        let entityTag: String
        let bytes: ByteBuffer
    }

    package static let maximumFileBytes = 1_048_576
    package static let maximumFiles = 500

    /// The document that every page's address answers.
    let document: File
    private let files: [String: File]

    /// Reads a folder and the folders in it.
    ///
    /// Files of kinds that a console does not have, and those whose names begin with a dot, are passed over.
    ///
    /// - Parameter path: The folder; `index.html` is in it.
    /// - Throws: ``ConsoleFilesError``.
    package init(directory path: String) throws(ConsoleFilesError) {
        let root = URL(fileURLWithPath: path, isDirectory: true)
        var files: [String: File] = [:]
        for name in try Self.names(in: root) {
            guard let mediaType = MediaType.ofFile(named: name) else { continue }
            guard files.count < Self.maximumFiles else {
                throw ConsoleFilesError(description: "\(path) must have at most \(Self.maximumFiles) files")
            }
            let bytes = try Self.bytes(of: root.appendingPathComponent(name))
            let digest = SHA256.hash(data: bytes).prefix(16).map { String(format: "%02x", $0) }.joined()
            files[name] = File(mediaType: mediaType, entityTag: "\"\(digest)\"", bytes: ByteBuffer(bytes: bytes))
        }
        guard let document = files["index.html"] else {
            throw ConsoleFilesError(description: "\(path) has no index.html")
        }
        self.document = document
        self.files = files
    }

    /// The file at a path below the console's, which is not decoded: no name of ours needs it.
    func file(at path: String) -> File? { files[path] }

    private static func names(in root: URL) throws(ConsoleFilesError) -> [String] {
        guard let names = FileManager.default.enumerator(atPath: root.path) else {
            throw ConsoleFilesError(description: "\(root.path) cannot be read as a folder")
        }
        return names.compactMap { $0 as? String }
            .filter { !$0.split(separator: "/").contains { $0.hasPrefix(".") } }
            .sorted()
    }

    private static func bytes(of url: URL) throws(ConsoleFilesError) -> Data {
        let bytes: Data
        do {
            bytes = try FileHandle(forReadingFrom: url).read(upToCount: maximumFileBytes + 1) ?? Data()
        } catch {
            throw ConsoleFilesError(description: "\(url.path) cannot be read")
        }
        guard bytes.count <= maximumFileBytes else {
            throw ConsoleFilesError(description: "\(url.path) must have at most \(maximumFileBytes) bytes")
        }
        return bytes
    }
}

package struct ConsoleFilesError: Error, CustomStringConvertible {
    package let description: String
}

enum MediaType {
    private static let byExtension = [
        "css": "text/css; charset=utf-8",
        "html": "text/html; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "json": "application/json",
        "png": "image/png",
        "svg": "image/svg+xml",
        "webmanifest": "application/manifest+json",
    ]

    /// The kind that a name's ending says; `nil` for all others.
    static func ofFile(named name: some StringProtocol) -> String? {
        guard let dot = name.lastIndex(of: ".") else { return nil }
        return byExtension[String(name[name.index(after: dot)...])]
    }
}
