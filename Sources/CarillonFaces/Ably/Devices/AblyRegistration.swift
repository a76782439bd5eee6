import CarillonCore

/// Makes the device that a client describes of the one that is known, if any (FACES E4).
struct AblyRegistration: Sendable {
    let caller: AblyCaller
    let addresses: DeviceAddressReader
    let now: Timestamp

    /// A device as it is registered anew, in the place of the one that is known.
    func device(_ id: DeviceID, _ body: AblyDeviceBody, replacing known: Device?) throws(AblyError) -> Device {
        let client = try caller.client(naming: body.client ?? nil)
        if let known, !caller.isAdmin, let client, !known.userID.isNobody, known.userID != client { throw .otherClient }
        let former = known.map { AblyDevice(of: $0) }
        if let former {
            try Self.check(body, against: former)
        }
        guard let platform = body.platform ?? former?.platform, let formFactor = body.formFactor ?? former?.formFactor
        else {
            throw .body("platform and formFactor are required")
        }
        let (metadata, recipient): (JSONObject?, JSONObject?) = (body.metadata ?? nil, former?.recipient)
        let kept = AblyDevice(platform: platform, formFactor: formFactor, metadata: metadata, recipient: recipient)
        return try place(kept, id, client ?? .nobody, body, known)
    }

    func device(changing known: Device, _ body: AblyDeviceBody) throws(AblyError) -> Device {
        var kept = AblyDevice(of: known)
        try Self.check(body, against: kept)
        var owner = known.userID
        if let client = body.client, client ?? "" != known.userID.rawValue {
            guard caller.isAdmin else { throw .capability("push-admin is needed to change clientId") }
            owner = try caller.client(naming: client) ?? .nobody
        }
        if let metadata = body.metadata, metadata != kept.metadata {
            guard caller.isAdmin else { throw .capability("push-admin is needed to change metadata") }
            kept.metadata = metadata
        }
        return try place(kept, known.id, owner, body, known)
    }

    private func place(
        _ kept: AblyDevice,
        _ id: DeviceID,
        _ owner: UserID,
        _ body: AblyDeviceBody,
        _ known: Device?
    ) throws(AblyError) -> Device {
        var kept = kept
        // Devices without a secret of their own have one that nobody knows, which tells their tokens from those of a later one.
        let secretHash =
            body.secret.map(SecretHash.init(of:)) ?? known?.secretHash ?? SecretHash(bytes: randomBytes(32))
        if let recipient = body.recipient {
            let recipient = try AblyRecipient(recipient, caller.settings)
            let (address, isUsable) = try recipient.registered(addresses)
            kept.recipient = recipient.shown
            return Device(
                id: id,
                userID: owner,
                address: address,
                locale: known?.locale,
                state: isUsable ? .active : .quarantined,
                error: isUsable ? nil : "the token is none of Apple's",
                registeredAt: now,
                broadcasts: known?.broadcasts ?? true,
                attributes: kept.attributes(at: address),
                secretHash: secretHash
            )
        }
        guard var device = known else { throw .malformed("push.recipient is required") }
        device.userID = owner
        device.attributes = kept.attributes(at: device.address)
        device.secretHash = secretHash
        return device
    }

    /// What a device is does not change; what a client believes to be so is so.
    private static func check(_ body: AblyDeviceBody, against known: AblyDevice) throws(AblyError) {
        guard body.platform ?? known.platform == known.platform, body.formFactor ?? known.formFactor == known.formFactor
        else {
            throw .malformed("platform and formFactor of a device do not change")
        }
    }
}
