/// A part of a migration that is durable by itself.
enum MigrationStep: Sendable, Equatable {
    /// Statements of one transaction.
    case together(String)
    /// An index of a table that was there before.
    case index(IndexDefinition)
    /// A primary key of such a table, by an index of its own.
    case key(IndexDefinition)
    /// A statement that changes some rows at a time, and is repeated until it changes none.
    case repeated(String)
}

/// `CREATE INDEX` as a migration says it.
struct IndexDefinition: Sendable, Equatable {
    var name: String
    var table: String
    /// Whether no two rows may have the same key.
    var isUnique = false
    /// Its columns and its condition.
    var columns: String

    /// The same for a partition of the table.
    func of(partition: String) -> IndexDefinition {
        IndexDefinition(name: "\(name)_of_\(partition)", table: partition, isUnique: isUnique, columns: columns)
    }
}

extension Migration {
    /// How it is run beside those who work on the tables.
    ///
    /// An index or a primary key of a table that the file did not make is a step, and so are an UPDATE and a statement below a line `-- in steps`;
    /// what stands between two of them is one transaction. They begin at the beginning of a line.
    var steps: [MigrationStep] {
        let made = Set(text.matches(of: /(?m)^CREATE TABLE (\w+)/).map(\.1))
        let ownStep =
            /(?m)^-- in steps\n(?<repeated>[^;]+);|^CREATE (?<unique>UNIQUE )?INDEX (?<name>\w+) ON (?<table>\w+)(?<columns>[^;]+);|^UPDATE [^;]+;|^ALTER TABLE (?<keyed>\w+) ADD CONSTRAINT (?<key>\w+) PRIMARY KEY(?<parts> \([^;]+);/
        var steps: [MigrationStep] = []
        var rest = text[...]
        for match in text.matches(of: ownStep) {
            if let table = match.output.table ?? match.output.keyed, made.contains(table) { continue }
            steps += Self.together(rest[..<match.range.lowerBound])
            rest = text[match.range.upperBound...]
            if let name = match.output.name, let table = match.output.table, let columns = match.output.columns {
                steps.append(.index(IndexDefinition(name, table, columns, isUnique: match.output.unique != nil)))
            } else if let key = match.output.key, let table = match.output.keyed, let columns = match.output.parts {
                steps.append(.key(IndexDefinition(key, table, columns, isUnique: true)))
            } else if let statement = match.output.repeated {
                steps.append(.repeated(String(statement)))
            } else {
                steps.append(.together(String(match.output.0)))
            }
        }
        steps += Self.together(rest)
        return steps.isEmpty ? [.together(text)] : steps
    }

    /// Nothing, where there are only comments.
    private static func together(_ text: Substring) -> [MigrationStep] {
        let hasStatement = text.split(whereSeparator: \.isNewline).contains { line in
            let words = line.drop(while: \.isWhitespace)
            return !words.isEmpty && !words.hasPrefix("--")
        }
        return hasStatement ? [.together(String(text))] : []
    }
}

extension IndexDefinition {
    fileprivate init(_ name: Substring, _ table: Substring, _ columns: Substring, isUnique: Bool) {
        self.init(name: String(name), table: String(table), isUnique: isUnique, columns: String(columns))
    }
}
