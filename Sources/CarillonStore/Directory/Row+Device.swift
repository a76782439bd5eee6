import CarillonCore
import Postgres

extension Row {
    /// Reads provider, app, address and what belongs to it from six columns.
    func address(at column: Int) throws -> DeviceAddress {
        DeviceAddress(
            try choice(column),
            try decode(column + 2),
            appID: try decode(column + 1),
            environment: isNull(column + 3) ? nil : try choice(column + 3),
            keys: isNull(column + 4) ? nil : (p256dh: try decode(column + 4), auth: try decode(column + 5))
        )
    }

    func device() throws -> Device {
        Device(
            id: try id(0),
            userID: try id(1),
            address: try address(at: 2),
            locale: try decode(8),
            state: try choice(9),
            error: try decode(10),
            registeredAt: try timestamp(11),
            obtainedAt: try timestampIfAny(15),
            broadcasts: try decode(12),
            attributes: try decode(13, as: String?.self).flatMap(JSONObject.init(stored:)),
            secretHash: try decode(14, as: [UInt8]?.self).map(SecretHash.init(bytes:))
        )
    }

    static var deviceColumns: SQL {
        """
        device_id, user_id, provider, app_id, address, environment, p256dh, auth, locale, state, error, registered_at,
        broadcasts, attributes, secret_hash, CASE WHEN obtained_for = registered_at THEN obtained_at END
        """
    }
}

extension SQL {
    /// When the address of device `d` was obtained, as far as anybody knows: of what nobody registered and nobody dated, at no time.
    static let obtainedAt: SQL = """
        coalesce(CASE WHEN d.obtained_for = d.registered_at THEN d.obtained_at END,
                 CASE WHEN d.transient THEN 'epoch' ELSE d.registered_at END)
        """
}

extension DeviceAddress {
    /// SHA-256 of what only one device can have; `nil` for what many may share: a URL, standard output.
    ///
    /// A token alone decides: registered anew with another app or environment, it still reaches the same installation.
    var uniqueHash: [UInt8]? { provider.kind.isPushService ? digest : nil }
}

extension JSONObject {
    /// An object as the database has it; `nil` for anything else.
    fileprivate init?(stored text: String) {
        guard case .object(let object)? = try? JSONValue(parsing: Array(text.utf8)) else { return nil }
        self = object
    }

    var stored: String { String(decoding: JSONValue.object(self).serialized, as: UTF8.self) }
}
