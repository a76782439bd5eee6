import CarillonCore

/// Reads devices as they are registered (API section 6), each provider by its own rules.
struct DeviceReader {
    /// When a device is registered that is read now.
    let now: Timestamp
    let addresses: DeviceAddressReader

    /// Reads a device whose id and user are known already; `nil` after noting what is wrong.
    ///
    /// Whether there are unknown members is left to the caller to find.
    func device(_ id: DeviceID, of user: UserID?, from reader: inout JSONObjectReader) -> Device? {
        let locale = reader.locale()
        let broadcasts = reader.bool("broadcasts") ?? true
        let address = addresses.address(from: &reader)
        guard let address, let user else { return nil }
        guard !id.isOfAddress || id == DeviceID(reachedAt: address) else {
            reader.refuse("id", "is kept for the device at another address: t- and 43 characters")
            return nil
        }
        return Device(
            id: id,
            userID: user,
            address: address,
            locale: locale,
            registeredAt: now,
            broadcasts: broadcasts
        )
    }
}
