import Crypto
import Foundation

struct Migration: Sendable, Equatable {
    /// Its number.
    let version: Int
    /// Its name without the ending.
    let name: String
    let text: String

    /// SHA-256 of the text, in hexadecimal.
    var checksum: String {
        SHA256.hash(data: Array(text.utf8)).map { String(format: "%02x", $0) }.joined()
    }

    /// Reads the files of a directory in the order of their numbers; what does not end in `.sql` is left alone.
    /// - Throws: ``MigrationError``.
    static func all(in directory: String) throws -> [Migration] {
        guard let files = try? FileManager.default.contentsOfDirectory(atPath: directory) else {
            throw MigrationError.unreadableDirectory(directory)
        }
        let migrations = try files.filter { $0.hasSuffix(".sql") }.map { file in
            let name = String(file.dropLast(4))
            let number = name.prefix { $0.isASCII && $0.isNumber }
            guard number.count == 4, name.dropFirst(4).first == "_", let version = Int(number) else {
                throw MigrationError.badFileName(file)
            }
            guard let data = FileManager.default.contents(atPath: "\(directory)/\(file)"),
                let text = String(validating: data, as: UTF8.self)
            else { throw MigrationError.unreadableFile(file) }
            return Migration(version: version, name: name, text: text)
        }
        let sorted = migrations.sorted { ($0.version, $0.name) < ($1.version, $1.name) }
        guard !sorted.isEmpty else { throw MigrationError.unreadableDirectory(directory) }
        for (index, migration) in sorted.enumerated() where migration.version != index + 1 {
            throw MigrationError.numberingGap(expected: index + 1, found: migration.name)
        }
        return sorted
    }

    /// Refuses a history that these files do not continue.
    static func check(_ migrations: [Migration], against applied: [AppliedMigration]) throws(MigrationError) {
        for (index, done) in applied.enumerated() {
            guard done.version == index + 1 else { throw .historyGap(missing: index + 1) }
            guard index < migrations.count else {
                throw .databaseIsNewer(database: applied.count, files: migrations.count)
            }
            guard migrations[index].checksum == done.checksum else { throw .changedFile(migrations[index].name) }
        }
    }
}

struct AppliedMigration: Sendable, Equatable {
    let version: Int
    let name: String
    let checksum: String
}

package enum MigrationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// There is no such directory, or no migration in it.
    case unreadableDirectory(String)
    /// A file is not UTF-8 or cannot be opened.
    case unreadableFile(String)
    /// A file is not named `NNNN_name.sql`.
    case badFileName(String)
    /// A number is missing or used twice among the files.
    case numberingGap(expected: Int, found: String)
    /// A number is missing among those that were run.
    case historyGap(missing: Int)
    /// A file is not what it was when it was run.
    case changedFile(String)
    /// The database was migrated by a newer release.
    case databaseIsNewer(database: Int, files: Int)
    /// A pooler is in between, which gives each transaction another session.
    case pooled

    package var description: String {
        switch self {
        case .unreadableDirectory(let path):
            "there are no migrations in \(path); set CARILLON_MIGRATIONS_DIR to where they are"
        case .unreadableFile(let file):
            "migration \(file) cannot be read as UTF-8"
        case .badFileName(let file):
            "migration \(file) must be named NNNN_name.sql"
        case .numberingGap(let expected, let found):
            "migration \(found) was found where number \(expected) was expected"
        case .historyGap(let missing):
            "the database lacks migration \(missing), but has later ones"
        case .changedFile(let name):
            "migration \(name) was changed after it had been run; restore it and add a new one"
        case .databaseIsNewer(let database, let files):
            "the database is at migration \(database), newer than this release, which ends at \(files)"
        case .pooled:
            "migrations need a session of their own, and a pooler in between hands sessions out by transaction: set "
                + "CARILLON_ANNOUNCEMENTS_URL to the same database without it"
        }
    }
}
