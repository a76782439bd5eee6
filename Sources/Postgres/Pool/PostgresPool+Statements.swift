/// Single statements on some connection, each a transaction of its own.
extension PostgresPool {
    /// Runs a statement; answers how many rows it changed, or selected.
    @discardableResult
    public func execute(_ sql: SQL) async throws -> Int {
        try await withConnection { session in try session.execute(sql) }
    }

    /// Runs a query and decodes each row.
    public func query<Value: Sendable>(
        _ sql: SQL,
        _ decode: @Sendable (borrowing Row) throws -> Value
    ) async throws -> [Value] {
        try await withConnection { session in try session.query(sql, decode) }
    }

    /// Runs a query and decodes the first row; `nil` when there is none.
    public func queryFirst<Value: Sendable>(
        _ sql: SQL,
        _ decode: @Sendable (borrowing Row) throws -> Value
    ) async throws -> Value? {
        try await withConnection { session in try session.queryFirst(sql, decode) }
    }

    /// Runs a query and decodes the first field of its first row; `nil` when there is none.
    public func first<Value: PostgresDecodable & Sendable>(
        _ sql: SQL,
        as type: Value.Type = Value.self
    ) async throws -> Value? {
        try await withConnection { session in try session.first(sql, as: type) }
    }
}
