#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The account PostgreSQL runs as.
struct ServerAccount: Hashable, Sendable {
    var name: String
    var userID: uid_t
    var groupID: gid_t

    static var isRoot: Bool { geteuid() == 0 }

    /// The account of this process.
    static var current: ServerAccount {
        find { getpwuid_r(geteuid(), $0, $1, $2, $3) }
            ?? ServerAccount(name: name(of: geteuid()), userID: geteuid(), groupID: getegid())
    }

    static func named(_ name: String) -> ServerAccount? {
        find { getpwnam_r(name, $0, $1, $2, $3) }
    }

    static func withID(_ userID: uid_t) -> ServerAccount? {
        find { getpwuid_r(userID, $0, $1, $2, $3) }
    }

    /// The name of an account, or its number when it has none.
    static func name(of userID: uid_t) -> String {
        withID(userID)?.name ?? "user \(userID)"
    }

    var groups: Set<gid_t> {
        var count: Int32 = 64
        #if canImport(Darwin)
            var groups = [Int32](repeating: 0, count: Int(count))
            getgrouplist(name, Int32(bitPattern: groupID), &groups, &count)
            return Set(groups.prefix(Int(max(0, count))).map(gid_t.init(bitPattern:)) + [groupID])
        #else
            var groups = [gid_t](repeating: 0, count: Int(count))
            getgrouplist(name, groupID, &groups, &count)
            return Set(groups.prefix(Int(max(0, count))) + [groupID])
        #endif
    }

    /// Whether the account may enter a directory, by the directory's permission bits.
    func canEnter(_ directory: FileSystem.Attributes) -> Bool {
        if directory.owner == userID { return directory.permissions & 0o100 != 0 }
        if groups.contains(directory.group) { return directory.permissions & 0o010 != 0 }
        return directory.permissions & 0o001 != 0
    }

    private typealias Lookup = (
        UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
        UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
    ) -> Int32

    private static func find(_ lookup: Lookup) -> ServerAccount? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16384) { buffer in
            guard let start = buffer.baseAddress, lookup(&entry, start, buffer.count, &found) == 0, found != nil else {
                return nil
            }
            return ServerAccount(name: String(cString: entry.pw_name), userID: entry.pw_uid, groupID: entry.pw_gid)
        }
    }
}
