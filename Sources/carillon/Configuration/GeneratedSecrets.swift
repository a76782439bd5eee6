import CarillonCore
import Foundation

/// The secrets that a service with an embedded cluster makes for itself and keeps in its data directory.
struct GeneratedSecrets: Sendable {
    struct SecretFile: Sendable {
        /// The setting that it stands in for.
        let setting: Setting
        let path: String
        let generate: @Sendable () -> String
    }

    let operatorToken: SecretFile
    let masterKey: SecretFile

    /// The files of a data directory; nothing is read yet.
    init(dataDirectory: String) {
        operatorToken = SecretFile(setting: .operatorToken, path: "\(dataDirectory)/operator-token") {
            // URL-safe, so that it can be pasted anywhere.
            Data.random(bytes: 32).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
        }
        masterKey = SecretFile(setting: .masterKey, path: "\(dataDirectory)/master-key") {
            Data.random(bytes: MasterKey.length).base64EncodedString()
        }
    }
}

extension GeneratedSecrets.SecretFile {
    private static let maximumBytes = 4096

    var exists: Bool { access(path, F_OK) == 0 }

    /// Reads the secret; makes it first where there is none. Of several processes that do so at once, one wins.
    ///
    /// - Returns: The secret, and whether it is new.
    /// - Throws: ``ConfigurationError``, which names the file.
    func load() throws(ConfigurationError) -> (text: String, isNew: Bool) {
        if let text = try read() { return (text, false) }
        let isNew = try create(generate())
        guard let text = try read() else { throw error("cannot be read") }
        return (text, isNew)
    }

    /// The permission bits of the file that let others than its owner in; 0 is as it should be.
    var strangersPermissions: mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o077 : 0
    }

    func error(_ problem: String) -> ConfigurationError {
        ConfigurationError(mistakes: ["\(path) (in place of \(setting.variable)) \(problem)"])
    }

    private func read() throws(ConfigurationError) -> String? {
        guard let file = FileHandle(forReadingAtPath: path) else {
            guard errno == ENOENT else { throw error("cannot be read: \(String(cString: strerror(errno)))") }
            return nil
        }
        guard let data = try? file.read(upToCount: Self.maximumBytes) else { throw error("cannot be read") }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Writes the file in one step: it is whole and private from the moment on at which it can be seen.
    private func create(_ text: String) throws(ConfigurationError) -> Bool {
        let partial = "\(path).\(UUID().uuidString)"
        let descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw error("cannot be made: \(String(cString: strerror(errno)))") }
        defer { unlink(partial) }
        let bytes = Array("\(text)\n".utf8)
        let isWritten = write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
        guard close(descriptor) == 0, isWritten else { throw error("cannot be written") }
        if link(partial, path) == 0 { return true }
        guard errno == EEXIST else { throw error("cannot be made: \(String(cString: strerror(errno)))") }
        return false
    }
}

extension Data {
    fileprivate static func random(bytes count: Int) -> Data {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
