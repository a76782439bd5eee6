import CarillonCore
import Postgres

enum LaneRows {
    /// How many different devices are remembered of a lane while its brake is on; of more it is a sample.
    private static let mostReports = 10_000
    /// The smallest sample is one of so many.
    private static let smallestPart = 1 << 16

    /// Reads the lanes that `condition` names, and the time.
    static func read(_ condition: SQL, _ session: borrowing PostgresSession) throws -> LaneConditions {
        let moment = try session.now()
        let lanes = try session.query(
            .unprepared(
                """
                SELECT network_id, provider, app_id, paused_since, paused_until, pause_reason, next_pause, counted_since,
                       delivered, others, gone, braked_since, believed_until, undo_since, undo_until, reported_part
                FROM lanes \(sql: condition)
                """
            )
        ) { row in
            let lane = Lane(networkID: try row.id(0), provider: try row.choice(1), appID: try row.decode(2))
            return (lane, try row.laneCondition())
        }
        return LaneConditions(moment: moment, lanes: Dictionary(lanes, uniquingKeysWith: { $1 }))
    }

    /// Reads these lanes, as far as anything is wrong with them, and locks them.
    static func lock(_ lanes: [Lane], _ session: borrowing PostgresSession) throws -> LaneConditions {
        try read(
            """
            WHERE (network_id, provider, app_id) IN (
                SELECT * FROM unnest(\(lanes.map(\.networkID.rawValue)), \(lanes.map(\.provider.rawValue)),
                                     \(lanes.map(\.appID))))
            ORDER BY network_id, provider, app_id FOR UPDATE
            """,
            session
        )
    }

    /// Makes rows for lanes that have none.
    static func insert(_ lanes: [Lane], _ session: borrowing PostgresSession) throws {
        try session.execute(
            """
            INSERT INTO lanes (network_id, provider, app_id, next_pause, changed_at)
            SELECT n.network_id, n.provider, n.app_id, \(LaneCondition.firstPause.wholeMilliseconds), now()
            FROM unnest(\(lanes.map(\.networkID.rawValue)), \(lanes.map(\.provider.rawValue)), \(lanes.map(\.appID)))
                AS n (network_id, provider, app_id)
            ON CONFLICT (network_id, provider, app_id) DO NOTHING
            """
        )
    }

    /// Writes what locked lanes have become; those that are well are forgotten.
    static func write(_ conditions: LaneConditions, _ session: borrowing PostgresSession) throws {
        let well = conditions.lanes.filter { $1.isWell(at: conditions.moment) }.keys.sorted()
        let others = conditions.lanes.filter { !$1.isWell(at: conditions.moment) }.sorted { $0.key < $1.key }
        if !well.isEmpty {
            try session.execute(
                """
                DELETE FROM lanes l
                USING unnest(\(well.map(\.networkID.rawValue)), \(well.map(\.provider.rawValue)), \(well.map(\.appID)))
                    AS n (network_id, provider, app_id)
                WHERE l.network_id = n.network_id AND l.provider = n.provider AND l.app_id = n.app_id
                """
            )
        }
        guard !others.isEmpty else { return }
        let lanes = others.map(\.key)
        let values = others.map(\.value)
        try session.execute(
            """
            UPDATE lanes l
            SET paused_since = n.paused_since, paused_until = n.paused_until, pause_reason = n.pause_reason,
                next_pause = n.next_pause, counted_since = n.counted_since, delivered = n.delivered, others = n.others,
                gone = n.gone, braked_since = n.braked_since, believed_until = n.believed_until,
                undo_since = n.undo_since, undo_until = n.undo_until, reported_part = n.reported_part, changed_at = now()
            FROM unnest(\(lanes.map(\.networkID.rawValue)), \(lanes.map(\.provider.rawValue)), \(lanes.map(\.appID)),
                        \(values.map(\.pause?.since.stored)), \(values.map(\.pause?.until.stored)),
                        \(values.map(\.pause?.reason)), \(values.map(\.nextPause.wholeMilliseconds)),
                        \(values.map(\.reports.since?.stored)), \(values.map(\.reports.delivered)),
                        \(values.map(\.reports.others)), \(values.map(\.reports.gone)),
                        \(values.map(\.brakedSince?.stored)), \(values.map(\.believedUntil?.stored)),
                        \(values.map(\.undo?.since.stored)), \(values.map(\.undo?.until.stored)),
                        \(values.map(\.reports.part)))
                AS n (network_id, provider, app_id, paused_since, paused_until, pause_reason, next_pause, counted_since,
                      delivered, others, gone, braked_since, believed_until, undo_since, undo_until, reported_part)
            WHERE l.network_id = n.network_id AND l.provider = n.provider AND l.app_id = n.app_id
            """
        )
    }

    /// Counts what was answered in lanes; answers what they are then, as far as anything is wrong with them.
    static func note(
        _ answers: [Lane: DeviceReports.Answers],
        _ session: borrowing PostgresSession
    ) throws -> [Lane: LaneCondition] {
        guard !answers.isEmpty else { return [:] }
        try insert(answers.filter { !$1.gone.isEmpty }.keys.sorted(), session)
        var conditions = try lock(answers.keys.sorted(), session)
        for (lane, condition) in conditions.lanes.sorted(by: { $0.key < $1.key }) {
            guard let said = answers[lane] else { continue }
            var condition = condition
            let proven = condition.brakedSince == nil ? nil : try remember(said, of: lane, condition.reports, session)
            let change = condition.note(said, proven: proven, at: conditions.moment)
            // What turned it on counts as well, when it is asked how many different devices are gone.
            if change == .on {
                // What was remembered before an admin believed such reports, or had another credential used.
                try forgetReports(of: lane, session)
                let since = condition.undo?.since ?? conditions.moment
                condition.reports.part = try rememberUnregistered(since: since, of: lane, session)
                condition.reports.part = try remember(said, of: lane, condition.reports, session).part
            }
            if change == .off { try forgetReports(of: lane, session) }
            conditions.lanes[lane] = condition
        }
        try write(conditions, session)
        return conditions.lanes
    }

    /// Remembers which devices answered while the brake is on, as far as they are in the sample; answers what the sample says then.
    private static func remember(
        _ answers: DeviceReports.Answers,
        of lane: Lane,
        _ reports: DeviceReports,
        _ session: borrowing PostgresSession
    ) throws -> DeviceReports.Sample {
        let delivered = Set(answers.delivered).subtracting(answers.gone)
        let devices = (delivered.map { ($0.rawValue, false) } + Set(answers.gone).map { ($0.rawValue, true) })
            .sorted { $0.0 < $1.0 }
        try session.execute(
            """
            INSERT INTO lane_reports AS r (network_id, provider, app_id, device_id, is_gone)
            SELECT \(lane.networkID.rawValue), \(lane.provider.rawValue), \(lane.appID), n.device_id, n.is_gone
            FROM unnest(\(devices.map(\.0)), \(devices.map(\.1))) AS n (device_id, is_gone)
            WHERE \(sql: isInSample("n", of: reports.part))
            ON CONFLICT (network_id, provider, app_id, device_id) DO UPDATE SET is_gone = EXCLUDED.is_gone
            WHERE r.is_gone <> EXCLUDED.is_gone
            """
        )
        var sample = try Self.sample(of: lane, part: reports.part, session)
        while sample.size > mostReports, sample.part < smallestPart {
            let part = sample.part * 2
            let isOutside: SQL = "\(sql: isOf(lane)) AND NOT \(sql: isInSample("r", of: part))"
            try session.execute("DELETE FROM lane_reports r WHERE \(sql: isOutside)")
            sample = try Self.sample(of: lane, part: part, session)
        }
        return sample
    }

    private static func sample(
        of lane: Lane,
        part: Int,
        _ session: borrowing PostgresSession
    ) throws -> DeviceReports.Sample {
        let counts = try session.queryFirst(
            """
            SELECT count(*) FILTER (WHERE r.is_gone), count(*) FILTER (WHERE NOT r.is_gone) FROM lane_reports r
            WHERE \(sql: isOf(lane))
            """
        ) { row in DeviceReports.Sample(gone: try row.decode(0), delivered: try row.decode(1), part: part) }
        return counts ?? DeviceReports.Sample(gone: 0, delivered: 0, part: part)
    }

    /// Remembers the devices that were unregistered before the brake went on: they are taken back into use, and answer again. Answers of
    /// how many one is remembered.
    private static func rememberUnregistered(
        since start: Timestamp,
        of lane: Lane,
        _ session: borrowing PostgresSession
    ) throws -> Int {
        let unregistered: SQL = """
            devices d WHERE \(sql: isOf(lane, "d")) AND d.state <> 'active' AND d.state_at >= \(start.stored)
            """
        let count: Int = try session.first(.unprepared("SELECT count(*) FROM \(sql: unregistered)")) ?? 0
        var part = 1
        while count > mostReports * part, part < smallestPart { part *= 2 }
        try session.execute(
            .unprepared(
                """
                INSERT INTO lane_reports (network_id, provider, app_id, device_id, is_gone)
                SELECT d.network_id, d.provider, d.app_id, d.device_id, true
                FROM \(sql: unregistered) AND \(sql: isInSample("d", of: part))
                ON CONFLICT (network_id, provider, app_id, device_id) DO NOTHING
                """
            )
        )
        return part
    }

    private static func forgetReports(of lane: Lane, _ session: borrowing PostgresSession) throws {
        try session.execute("DELETE FROM lane_reports r WHERE \(sql: isOf(lane))")
    }

    private static func isOf(_ lane: Lane, _ row: String = "r") -> SQL {
        let row = SQL(trusted: row)
        return """
            \(sql: row).network_id = \(lane.networkID.rawValue) AND \(sql: row).provider = \(lane.provider.rawValue)
                AND \(sql: row).app_id = \(lane.appID)
            """
    }

    /// Whether a device is one of those that are remembered when one of so many is, which is a power of two: by its id alone, so that it
    /// stays so, and is in each larger sample as well.
    private static func isInSample(_ row: String, of part: Int) -> SQL {
        "hashtext(\(sql: SQL(trusted: row)).device_id) & \(part - 1) = 0"
    }
}

extension Row {
    fileprivate func laneCondition() throws -> LaneCondition {
        var condition = LaneCondition()
        if let since = try timestampIfAny(3), let until = try timestampIfAny(4) {
            condition.pause = .init(since: since, until: until, reason: try decode(5, as: String?.self) ?? "")
        }
        condition.nextPause = .milliseconds(try decode(6, as: Int64.self))
        condition.reports.since = try timestampIfAny(7)
        condition.reports.delivered = try decode(8)
        condition.reports.others = try decode(9)
        condition.reports.gone = try decode(10)
        condition.brakedSince = try timestampIfAny(11)
        condition.believedUntil = try timestampIfAny(12)
        if let since = try timestampIfAny(13), let until = try timestampIfAny(14) {
            condition.undo = .init(since: since, until: until)
        }
        condition.reports.part = try decode(15)
        return condition
    }
}
