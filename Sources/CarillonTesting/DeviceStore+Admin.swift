package import CarillonCore

extension DeviceStore {
    /// Registers a device as an admin does.
    package func putDevice(_ device: Device, in network: NetworkID) async throws -> Bool {
        try await putDevice(device, in: network, by: .admin)
    }
}
