import CarillonCore
import Postgres

/// Reads the devices that notifications name: those of several notifications by one statement.
struct NamedDevices {
    private struct Name {
        var position: Int
        var channel: ChannelKey
        var device: DeviceID
    }

    private var names: [Name] = []
    private var rows: [Int: [DeviceRow]] = [:]

    var isEmpty: Bool { names.isEmpty }

    mutating func add(_ devices: [DeviceID], _ channel: ChannelKey, at position: Int) {
        names += devices.map { Name(position: position, channel: channel, device: $0) }
        rows[position] = []
    }

    /// What reads them. A device that there is not has a row, too: it counts as somebody without a device.
    var statement: SQL {
        """
        SELECT p.position, \(sql: DeviceRow.columns)
        FROM unnest(\(names.map(\.position)), \(names.map(\.channel.network.rawValue)),
                    \(names.map(\.channel.channel.rawValue)), \(names.map(\.device.rawValue))) WITH ORDINALITY
            AS p (position, network_id, channel_id, device_id, number)
        LEFT JOIN LATERAL (
            \(sql: DeviceRow.device(where: "d.device_id = p.device_id")) LIMIT 1
        ) AS d ON true
        \(sql: DeviceRow.owner("d.user_id"))
        ORDER BY p.number
        """
    }

    mutating func take(_ answer: StatementResult, _ documents: inout ToggleDocuments) throws {
        try answer.forEach { row in
            rows[try row.decode(0, as: Int.self), default: []].append(try DeviceRow(row, 1, &documents))
        }
    }

    func recipients(at position: Int) -> [Recipient] { rows[position]?.recipients ?? [] }
}
