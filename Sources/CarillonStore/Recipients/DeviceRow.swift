import CarillonCore
import Postgres

/// A device with what its owner has set: what a page of devices is read from.
struct DeviceRow {
    /// When the owner, or the device, came into the audience, where there is an order of that.
    var since: EventMark?
    /// What the owner has set; empty for a device that nobody owns.
    var owner: Recipient
    /// The device; `nil` when it is not in use, or there is none.
    var device: Device?

    /// The columns, of device `d`, its owner `u`, and relation `m` to the channel of `p`.
    static let columns: SQL = """
        o.user_id, u.locale, u.toggles, m.toggles, d.device_id, \(sql: .deviceFields)
        """

    /// The user with an id, and what they have set, also for the channel of `p`.
    static func owner(_ user: SQL) -> SQL {
        """
        CROSS JOIN LATERAL (SELECT \(sql: user) AS user_id) AS o
        LEFT JOIN LATERAL (
            SELECT u.locale, u.toggles, u.wiped_at, u.wipes FROM users u
            WHERE u.network_id = p.network_id AND u.user_id = o.user_id
            LIMIT 1
        ) AS u ON true
        LEFT JOIN LATERAL (
            SELECT CASE WHEN m.facts_at <= greatest(c.wiped_at, u.wiped_at) THEN NULL ELSE m.toggles END AS toggles
            FROM members m
            LEFT JOIN LATERAL (
                SELECT c.wiped_at FROM channels c
                WHERE c.network_id = p.network_id AND c.channel_id = p.channel_id
                LIMIT 1
            ) AS c ON true
            WHERE m.network_id = p.network_id AND m.channel_id = p.channel_id AND m.user_id = o.user_id
                AND m.toggles IS NOT NULL
            LIMIT 1
        ) AS m ON true
        """
    }

    /// Device `d` of `p`, if it is in use and was registered since its user was removed last.
    static func device(where condition: SQL) -> SQL {
        """
        SELECT d.user_id, d.device_id, \(sql: .deviceFields)
        FROM devices d
        WHERE d.network_id = p.network_id AND \(sql: condition) AND d.state = 'active' AND \(sql: .isOfTheLiving)
        """
    }

    /// Reads ``columns``, which begin with `first`.
    init(_ row: borrowing Row, _ first: Int, _ documents: inout ToggleDocuments) throws {
        let user = try row.decode(first, as: String?.self).map(UserID.init(trusted:)) ?? .nobody
        owner = Recipient(
            userID: user,
            locale: try row.decode(first + 1),
            settings: try documents.settings(user: row.decode(first + 2), channel: row.decode(first + 3))
        )
        guard !row.isNull(first + 4) else { return }
        device = try row.activeDevice(at: first + 4, of: user)
    }
}

extension [DeviceRow] {
    /// One recipient for each owner, whose rows follow each other.
    var recipientsInOrder: [Recipient] {
        var recipients: [Recipient] = []
        for row in self {
            if recipients.last?.userID != row.owner.userID { recipients.append(row.owner) }
            if let device = row.device { recipients[recipients.count - 1].devices.append(device) }
        }
        return recipients
    }

    /// One recipient for each owner, in the order of the first of their rows, and one for each device that nobody owns.
    var recipients: [Recipient] {
        var recipients: [Recipient] = []
        var indices: [UserID: Int] = [:]
        for row in self {
            if !row.owner.userID.isNobody, let index = indices[row.owner.userID] {
                if let device = row.device { recipients[index].devices.append(device) }
                continue
            }
            indices[row.owner.userID] = recipients.count
            var recipient = row.owner
            recipient.devices = row.device.map { [$0] } ?? []
            recipients.append(recipient)
        }
        return recipients
    }
}

extension Row {
    /// Reads a device in use from its id and ``CarillonStore/SQL/deviceFields``, which begin with `first`.
    func activeDevice(at first: Int, of user: UserID) throws -> Device {
        Device(
            id: try id(first),
            userID: user,
            address: try address(at: first + 1),
            locale: try decode(first + 7),
            error: try decode(first + 8),
            registeredAt: try timestamp(first + 9),
            broadcasts: try decode(first + 10)
        )
    }
}

extension SQL {
    /// What is read of device `d` beside its id.
    static let deviceFields: SQL = """
        d.provider, d.app_id, d.address, d.environment, d.p256dh, d.auth, d.locale, d.error, d.registered_at, d.broadcasts
        """
}
