import CarillonCore
import Crypto
import Postgres

/// Registers devices of a network, one or many at once, each as if it came alone: the last write wins, by id and by token.
///
/// ``lock(_:)`` comes before everything else that its transaction locks, ``write(_:)`` when the users are in the directory.
/// In between, and until the transaction ends, nobody else registers a device for the same users, under the same ids or
/// with the same tokens.
struct DeviceRegistration {
    /// How many locks a network has for this. Names share them: a batch of any size takes no more than these.
    private static let lockCount = 256

    let network: NetworkID
    /// What is to be stored, in the order of the ids: neither id nor token is there twice.
    let devices: [Device]
    private let replaceable: ReplaceableDevice
    /// Devices that lost their token within the batch, in the order of their ids.
    private let displaced: [DeviceID]

    /// A registration of `devices`, in the order in which they came.
    init(_ devices: [Device], in network: NetworkID, replacing replaceable: ReplaceableDevice = .anyOfTheirs) {
        var latest: [DeviceID: Device] = [:]
        var holders: [[UInt8]: DeviceID] = [:]
        var displaced: Set<DeviceID> = []
        for device in devices {
            if let hash = device.address.uniqueHash {
                let former = holders.updateValue(device.id, forKey: hash)
                if let former, former != device.id, latest[former]?.address.uniqueHash == hash {
                    latest[former] = nil
                    displaced.insert(former)
                }
            }
            latest[device.id] = device
            displaced.remove(device.id)
        }
        self.network = network
        self.replaceable = replaceable
        self.devices = latest.values.sorted { $0.id < $1.id }
        self.displaced = displaced.sorted()
    }

    /// Whether users may write what this one has in use.
    func takesOver(from user: UserID) -> Bool {
        switch replaceable {
        case .anyOfTheirs: false
        case .only: user.isNobody
        case .anybodys, .same: true
        }
    }

    private var isOfSameDevice: Bool { if case .same = replaceable { true } else { false } }

    /// The users who get a device.
    var users: Set<UserID> { Set(devices.lazy.map(\.userID).filter { !$0.isNobody }) }

    /// Waits for other registrations of the same users, ids or tokens.
    func lock(_ session: borrowing PostgresSession) throws { try session.pipeline(locking) }

    /// What waits for them, always in the same order.
    var locking: [SQL] {
        guard !devices.isEmpty else { return [] }
        let root = SHA256.hash(data: Array("devices:\(network.rawValue)".utf8))
        let first = root.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        // Waits in the order of the array: what unnest answers is not sorted.
        return ["SELECT pg_advisory_xact_lock(lock) FROM unnest(\(lockNumbers.map { first ^ $0 })) AS lock"]
    }

    /// Stores the devices; what is registered elsewhere under their tokens goes.
    ///
    /// - Throws: ``DeviceTaken``, ``LimitReached`` and ``DeviceChanged``, with which the transaction has to end.
    func write(
        _ session: borrowing PostgresSession,
        by writer: Writer = .admin,
        telling listeners: FeedbackListeners = .none
    ) throws -> Set<DeviceID> {
        let (new, touched) = try store(session, by: writer, telling: listeners)
        try session.recordChanges(of: touched)
        return new
    }

    /// The same for what goes on to write; answers as well whose changes are to be recorded at its end.
    func store(
        _ session: borrowing PostgresSession,
        by writer: Writer = .admin,
        telling listeners: FeedbackListeners = .none
    ) throws -> (new: Set<DeviceID>, touched: [(network: NetworkID, user: UserID?)]) {
        guard !devices.isEmpty else { return ([], []) }
        let (former, start) = try lockFormer(session)
        // From here on nobody else changes it.
        if let known = replaceable.expected, let device = devices.first,
            try session.device(device.id, in: network) != known
        {
            throw DeviceChanged()
        }
        if writer == .user { try checkUser(former, telling: listeners, session) }
        let addsWebhookHosts = try addsWebhookHosts(session)
        try makeRoom(former, session)
        try upsert(over: former, at: start, session)
        if addsWebhookHosts { try checkWebhookHosts(session) }
        let current = Dictionary(uniqueKeysWithValues: devices.map { ($0.id, $0) })
        // Who loses a device, or whose deliveries in memory have a former address, is looked at again.
        let touched = former.filter { row in current[row.id].map { !row.isTheSame(as: $0) } ?? true }
        if listeners.want(FeedbackType.ofDevices, in: network) {
            try listeners.tell(changes(since: former), in: network, session)
        }
        return (
            Set(devices.map(\.id)).subtracting(former.filter(\.isOfTheLiving).map(\.id)),
            Set(touched.map(\.user)).sorted().map { (network, $0) }
        )
    }

    private var lockNumbers: [Int64] {
        var numbers: Set<Int64> = []
        func add(_ name: [UInt8]) {
            let digest = SHA256.hash(data: name)
            numbers.insert(digest.prefix(2).reduce(0) { $0 << 8 | Int64($1) } % Int64(Self.lockCount))
        }
        for id in displaced { add(Array("id:\(id.rawValue)".utf8)) }
        for device in devices {
            add(Array("id:\(device.id.rawValue)".utf8))
            // Nobody has no limit that could be overrun, and would let all such devices wait for each other.
            if !device.userID.isNobody { add(Array("user:\(device.userID.rawValue)".utf8)) }
            if let hash = device.address.uniqueHash { add(hash) }
            if device.address.provider == .webhook { add(Array("webhooks".utf8)) }
        }
        return numbers.sorted()
    }

    /// Locks what is stored under these ids and tokens, in the order of the keys. The mark comes after that: what somebody has subscribed
    /// one of them to meanwhile is from before.
    private func lockFormer(
        _ session: borrowing PostgresSession
    ) throws -> (former: [FormerDevice], start: TransactionStart) {
        let ids = devices.map(\.id) + displaced
        let hashes = devices.compactMap(\.address.uniqueHash)
        // By its key each: by both conditions together all of a network's devices would be compared with all of these. Planned
        // each time, because in an empty table an index that names only the network seems as good.
        let answers = try session.pipeline([
            .unprepared(
                """
                WITH keys AS MATERIALIZED (
                    SELECT n.device_id FROM unnest(\(ids.map(\.rawValue))) AS n (device_id)
                    UNION
                    SELECT holder.device_id
                    FROM unnest(\(hashes)) AS n (address_hash)
                    CROSS JOIN LATERAL (
                        SELECT d.device_id FROM devices d
                        WHERE d.network_id = \(network.rawValue) AND d.address_hash = n.address_hash
                        LIMIT 1
                    ) AS holder
                )
                SELECT former.*
                FROM (SELECT device_id FROM keys ORDER BY device_id) AS k
                CROSS JOIN LATERAL (
                    SELECT d.device_id, d.user_id, d.provider, d.app_id, d.address, d.environment, d.p256dh, d.auth,
                           d.address_hash, d.state, \(sql: .isOfTheLiving), d.transient
                    FROM devices d
                    WHERE d.network_id = \(network.rawValue) AND d.device_id = k.device_id
                    LIMIT 1
                    FOR UPDATE
                ) AS former
                """
            ),
            TransactionStart.statement(),
        ])
        let found = try answers[0].map { row in
            FormerDevice(
                id: try row.id(0),
                user: try row.id(1),
                columns: try (2...7).map { try row.decode($0, as: String?.self) },
                hash: try row.decode(8),
                state: try row.choice(9),
                isOfTheLiving: try row.decode(10),
                isTransient: try row.decode(11)
            )
        }
        // Somebody may have given the holder of a token another one before it was locked.
        let (ours, tokens) = (Set(ids), Set(hashes))
        let former = found.filter { row in ours.contains(row.id) || row.hash.map(tokens.contains) ?? false }
        return (former, try TransactionStart(answers[1]))
    }

    /// Removes the devices whose tokens these take.
    private func makeRoom(_ former: [FormerDevice], _ session: borrowing PostgresSession) throws {
        let staying = Set(devices.map(\.id))
        let replaced = former.map(\.id).filter { !staying.contains($0) }.map(\.rawValue)
        if !replaced.isEmpty {
            try session.execute(
                .unprepared(
                    """
                    DELETE FROM devices d
                    USING unnest(\(replaced.map { _ in network.rawValue }), \(replaced)) AS n (network_id, device_id)
                    WHERE d.network_id = n.network_id AND d.device_id = n.device_id
                    """
                )
            )
        }
        // A token may also move between two devices of the batch: none may hold it while the other gets it.
        let hashes = Dictionary(uniqueKeysWithValues: devices.map { ($0.id, $0.address.uniqueHash) })
        let moving = former.filter { $0.hash != nil && staying.contains($0.id) && hashes[$0.id] != .some($0.hash) }
        guard devices.count > 1, !moving.isEmpty else { return }
        try session.execute(
            .unprepared(
                """
                UPDATE devices d SET address_hash = NULL
                FROM unnest(\(moving.map { _ in network.rawValue }), \(moving.map(\.id.rawValue)))
                    AS n (network_id, device_id)
                WHERE d.network_id = n.network_id AND d.device_id = n.device_id
                """
            )
        )
    }

    private func upsert(
        over former: [FormerDevice],
        at start: TransactionStart,
        _ session: borrowing PostgresSession
    ) throws {
        let addresses = devices.map(\.address)
        let living = former.filter(\.isOfTheLiving).map(\.id.rawValue)
        let written = try session.execute(
            """
            INSERT INTO devices AS d (network_id, device_id, user_id, provider, app_id, address, environment, p256dh, auth,
                                 address_hash, locale, state, error, registered_at, user_wipes, broadcasts, attributes,
                                 secret_hash, obtained_at, obtained_for, state_at, seen_at, owned_since)
            SELECT n.network_id, n.device_id, n.user_id, n.provider, n.app_id, n.address, n.environment, n.p256dh,
                   n.auth, n.address_hash, n.locale, n.state, n.error, n.registered_at, coalesce(u.wipes, 0),
                   n.broadcasts, n.attributes, n.secret_hash, n.obtained_at, n.registered_at, n.state_at,
                   \(start.moment), \(start.mark.rawValue)
            FROM unnest(\(devices.map { _ in network.rawValue }), \(devices.map(\.id.rawValue)),
                        \(devices.map(\.userID.rawValue)), \(addresses.map(\.provider.rawValue)), \(addresses.map(\.appID)),
                        \(addresses.map(\.text)), \(addresses.map(\.environment?.rawValue)),
                        \(addresses.map(\.keys?.p256dh)), \(addresses.map(\.keys?.auth)),
                        \(addresses.map(\.uniqueHash)), \(devices.map(\.locale)), \(devices.map(\.state.rawValue)),
                        \(devices.map(\.error)), \(devices.map(\.registeredAt.stored)),
                        \(devices.map(\.broadcasts)), \(devices.map { $0.attributes?.stored }),
                        \(devices.map { $0.secretHash?.bytes }), \(devices.map { $0.obtainedAt?.stored }),
                        \(devices.map { $0.state == .active ? nil : start.moment }))
                AS n (network_id, device_id, user_id, provider, app_id, address, environment, p256dh, auth, address_hash,
                      locale, state, error, registered_at, broadcasts, attributes, secret_hash, obtained_at, state_at)
            \(sql: .ofNetworks)
            LEFT JOIN LATERAL (
                SELECT u.wipes FROM users u WHERE u.network_id = \(network.rawValue) AND u.user_id = n.user_id LIMIT 1
            ) AS u ON true
            ON CONFLICT (network_id, device_id) DO UPDATE
            SET user_id = EXCLUDED.user_id, provider = EXCLUDED.provider, app_id = EXCLUDED.app_id,
                address = EXCLUDED.address, environment = EXCLUDED.environment, p256dh = EXCLUDED.p256dh,
                auth = EXCLUDED.auth, address_hash = EXCLUDED.address_hash, locale = EXCLUDED.locale,
                state = EXCLUDED.state, error = EXCLUDED.error, registered_at = EXCLUDED.registered_at,
                obtained_at = EXCLUDED.obtained_at, obtained_for = EXCLUDED.obtained_for,
                state_at = CASE WHEN EXCLUDED.state = d.state THEN d.state_at ELSE EXCLUDED.state_at END,
                user_wipes = EXCLUDED.user_wipes, broadcasts = EXCLUDED.broadcasts, transient = false,
                seen_at = EXCLUDED.seen_at,
                attributes = EXCLUDED.attributes, secret_hash = EXCLUDED.secret_hash,
                owned_since = CASE WHEN d.user_id = EXCLUDED.user_id AND d.user_wipes = EXCLUDED.user_wipes
                                   THEN d.owned_since
                                   WHEN (d.secret_hash = EXCLUDED.secret_hash OR \(isOfSameDevice))
                                       AND d.device_id = ANY (\(living))
                                   THEN d.owned_since
                                   ELSE EXCLUDED.owned_since END
            """
        )
        guard written == devices.count else { throw try session.absence(of: network) }
    }

    /// What endpoints are told of it: what lost its token, then what is new or not as it was.
    ///
    /// What came with a notification was never told of, and a token that moves away from it is no news.
    func changes(since former: [FormerDevice]) -> [DirectoryChange] {
        let known = Dictionary(uniqueKeysWithValues: former.filter(\.isOfTheLiving).map { ($0.id, $0) })
        let staying = Set(devices.map(\.id))
        let replaced = former.filter { !staying.contains($0.id) && !$0.id.isOfAddress }.sorted { $0.id < $1.id }
        return replaced.compactMap { row in
            guard let lane = row.lane(in: network) else { return nil }
            let deletion: DeviceChange.Deletion = row.isOfTheLiving ? .replaced : .userDeleted
            return .device(DeviceChange(.deleted(deletion), of: row.id, row.user, in: lane))
        }
            + devices.compactMap { device in
                guard let registration = known[device.id].map({ $0.registration(as: device) }) ?? .new else {
                    return nil
                }
                let lane = Lane(
                    networkID: network,
                    provider: device.address.provider,
                    appID: device.address.appID
                )
                return .device(DeviceChange(.registered(registration), of: device.id, device.userID, in: lane))
            }
    }
}

struct FormerDevice {
    let id: DeviceID
    let user: UserID
    /// Provider, app, address, environment and both keys.
    let columns: [String?]
    let hash: [UInt8]?
    let state: DeviceState
    let isOfTheLiving: Bool
    let isTransient: Bool

    /// Whether what is sent to this one reaches the other, and the same person.
    func isTheSame(as device: Device) -> Bool {
        let address = device.address
        return user == device.userID
            && columns == [
                address.provider.rawValue, address.appID, address.text, address.environment?.rawValue,
                address.keys?.p256dh, address.keys?.auth,
            ]
    }

    /// What it means that it is registered like this now; `nil` when nothing changes.
    fileprivate func registration(as device: Device) -> DeviceChange.Registration? {
        if user != device.userID { return .moved(from: user) }
        if state != .active { return .returned }
        return isTheSame(as: device) ? nil : .changed
    }

    fileprivate func lane(in network: NetworkID) -> Lane? {
        guard let provider = columns[0].flatMap(ProviderName.init(rawValue:)) else { return nil }
        return Lane(networkID: network, provider: provider, appID: columns[1] ?? "")
    }
}
