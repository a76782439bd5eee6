import CarillonTesting
import Foundation

/// The release before this one, as `packaging/former-release` names it.
struct FormerRelease {
    struct Unnamed: Error {}

    let migrations: Int

    static func read() throws -> FormerRelease {
        let file = URL(filePath: TestDatabase.migrations).deletingLastPathComponent().appending(
            path: "packaging/former-release"
        )
        let text = try String(contentsOf: file, encoding: .utf8)
        guard let line = text.firstMatch(of: /(?m)^migrations (\d+)$/), let count = Int(line.1) else { throw Unnamed() }
        return FormerRelease(migrations: count)
    }
}
