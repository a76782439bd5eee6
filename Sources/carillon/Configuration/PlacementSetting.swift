import CarillonCore
import Postgres

struct PlacementSetting: Sendable {
    let name: PlacementName
    let configuration: PostgresConfiguration
}

extension [PlacementSetting] {
    /// Reads names and URLs with blanks between them, such as `p1=postgres://… p2=postgres://…`.
    init(setting text: String) throws(InvalidSetting) {
        self = []
        for part in text.split(whereSeparator: \.isWhitespace) {
            // What stands in the URL is never told: it may hold a password.
            guard let end = part.firstIndex(of: "="), let name = PlacementName(String(part[..<end])), name != .home
            else {
                throw InvalidSetting(
                    "must be names and URLs with blanks between them, p1=postgres://…: a name is a lower-case letter and up to 31"
                        + " letters, digits and hyphens, and not \(PlacementName.home)"
                )
            }
            guard !contains(where: { $0.name == name }) else { throw InvalidSetting("names \(name) twice") }
            let url = String(part[part.index(after: end)...])
            guard !url.hasSuffix(","), !url.contains(/,[^,@\/]*=postgres(ql)?:/) else {
                throw InvalidSetting("must have blanks, not commas, between one placement and the next")
            }
            guard url.contains(/^[a-z]+:\/\/./), let configuration = try? PostgresConfiguration(url: url) else {
                throw InvalidSetting(
                    "has no PostgreSQL URL for \(name), such as postgres://user:password@host:5432/database, with a port from 1 to 65535"
                )
            }
            append(PlacementSetting(name: name, configuration: configuration))
        }
    }
}

extension Int {
    init(poolSize text: String) throws(InvalidSetting) {
        guard let size = Int(text), (2...64).contains(size) else { throw .value(text, mustBe: "a number from 2 to 64") }
        self = size
    }
}
