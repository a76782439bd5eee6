import CarillonCore
package import Postgres

/// What is known of a master key.
package enum MasterKeyVerdict: Sendable, Equatable {
    /// It is the one that the database's secrets are sealed with.
    case current
    /// The previous one is: a rotation has not begun, or another replica that was started later has another order.
    case previous
    /// Neither is.
    case wrong
    /// Nothing is sealed yet.
    case unused
}

/// Compares the master key with the one of the database, and seals anew what the previous one sealed.
///
/// The database has a canary: a known text, sealed. The replica that was started last with a previous key that opens the
/// canary seals it with its current one; from then on only replicas with that key seal anew, so that two with opposite
/// orders do not work against each other while they are restarted one by one.
package struct MasterKeyRollover: Sendable {
    private static let text = Array("carillon".utf8)
    private static let purpose = SecretBox.Purpose(rawValue: "master-key-canary")

    private let pool: PostgresPool
    private let box: SecretBox

    package init(pool: PostgresPool, box: SecretBox) {
        self.pool = pool
        self.box = box
    }

    /// Looks at the canary; without one, at what is sealed. Changes nothing.
    package func verdict() async throws -> MasterKeyVerdict {
        if let canary = try await self.canary() { return judge(canary) }
        let headers = [box.currentHeader] + [box.previousHeader].compactMap(\.self)
        let (isUsed, isReadable) = try await pool.withConnection { session in
            var (all, matching) = (0, 0)
            // Tokens come and go; whether there is one that cannot be read says nothing.
            for column in SealedColumn.all.dropLast() {
                let counts = try column.count(sealedWith: headers, session)
                (all, matching) = (all + counts.all, matching + counts.matching)
            }
            return (all > 0, matching > 0)
        }
        // A few that cannot be read beside others that can are an old accident; all of them are another key.
        guard isUsed else { return .unused }
        return isReadable ? .current : .wrong
    }

    /// Makes the canary where there is none, and seals it with the current master key where the previous one did.
    ///
    /// For the start of a service: the one that is started last decides which key is the current one.
    ///
    /// - Returns: What is known of the master key then.
    package func takeOver() async throws -> MasterKeyVerdict {
        let verdict = try await self.verdict()
        guard verdict != .wrong else { return .wrong }
        let former = try await canary()
        // Not by the box's permission: this is what decides about it.
        let sealed = try box.seal(Self.text, for: Self.purpose, in: nil, regardless: true)
        try await pool.withConnection { session in
            if let former {
                guard verdict == .previous else { return }
                try session.execute("UPDATE master_key_canary SET sealed = \(sealed) WHERE sealed = \(former)")
            } else {
                try session.execute("INSERT INTO master_key_canary (sealed) VALUES (\(sealed)) ON CONFLICT DO NOTHING")
            }
        }
        return try await self.verdict()
    }

    /// Seals anew what the previous master key sealed, value by value, and never over what somebody else has just stored.
    package func sealAnew() async throws -> Int {
        guard let header = box.previousHeader else { return 0 }
        var count = 0
        for column in SealedColumn.all {
            var last: SealedColumn.Value?
            repeat {
                let page = try await pool.withConnection { [last] session in
                    try column.values(sealedWith: header, after: last, session)
                }
                for value in page {
                    // One that is damaged stays as it is.
                    guard let secret = try? box.open(value.sealed, for: value.purpose, in: value.network) else {
                        continue
                    }
                    let sealed = try box.seal(secret, for: value.purpose, in: value.network)
                    let isReplaced = try await pool.withConnection { session in
                        try column.replace(value, by: sealed, session)
                    }
                    if isReplaced { count += 1 }
                }
                last = page.last
            } while last != nil
        }
        return count
    }

    /// How many values are still sealed with the previous master key, and how many with neither.
    package func remaining() async throws -> (previous: Int, unreadable: Int) {
        let (current, previous) = (box.currentHeader, box.previousHeader)
        return try await pool.withConnection { session in
            var (former, strange) = (0, 0)
            for column in SealedColumn.all {
                let readable = try column.count(sealedWith: [current] + [previous].compactMap(\.self), session)
                strange += readable.all - readable.matching
                if let previous { former += try column.count(sealedWith: [previous], session).matching }
            }
            return (previous: former, unreadable: strange)
        }
    }

    private func canary() async throws -> [UInt8]? {
        try await pool.first("SELECT sealed FROM master_key_canary", as: [UInt8].self)
    }

    private func judge(_ canary: [UInt8]) -> MasterKeyVerdict {
        guard (try? box.open(canary, for: Self.purpose, in: nil)) == Self.text else { return .wrong }
        return canary.starts(with: box.currentHeader) ? .current : .previous
    }
}
