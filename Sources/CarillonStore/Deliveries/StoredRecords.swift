import CarillonCore

extension [DeviceRecord] {
    /// `[[device, user, state, attempts, reason, provider's id, milliseconds since 1970], …]`.
    var stored: String {
        JSONValue.array(
            map { record in
                [
                    .string(record.deviceID.rawValue),
                    .string(record.userID.rawValue),
                    .string(record.state.rawValue),
                    .number(JSONNumber(record.attempts)),
                    record.reason.map(JSONValue.string) ?? .null,
                    record.providerMessageID.map(JSONValue.string) ?? .null,
                    .number(JSONNumber(Int(record.at.milliseconds))),
                ]
            }
        ).serializedText
    }

    init(stored text: String) throws(StoreError) {
        guard case .array(let records)? = try? JSONValue(parsing: text) else { throw .unreadable("outcome") }
        self = []
        reserveCapacity(records.count)
        for record in records {
            guard case .array(let fields) = record, fields.count == 7,
                let device = fields[0].text, let user = fields[1].text,
                let state = fields[2].text.flatMap(DeliveryState.init(rawValue:)),
                let attempts = fields[3].wholeNumber, let at = fields[6].wholeNumber
            else { throw .unreadable("outcome") }
            append(
                DeviceRecord(
                    deviceID: Identifier(trusted: device),
                    userID: Identifier(trusted: user),
                    state: state,
                    attempts: attempts,
                    reason: fields[4].text,
                    providerMessageID: fields[5].text,
                    at: Timestamp(milliseconds: Int64(at))
                )
            )
        }
    }
}
