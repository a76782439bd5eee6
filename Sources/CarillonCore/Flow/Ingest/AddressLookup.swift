/// Finds devices by their addresses: those of all who ask at the same time by one reading, since there may be thousands in a
/// second who ask for one each.
package final class AddressLookup: Sendable {
    private let readings: Batcher<NetworkID, AddressPlace, ReachedDevice?>

    /// A look-up in a store.
    package init(_ devices: any DeviceStore) {
        readings = Batcher(weight: { $0.address.text.utf8.count + 256 }) { places, _ in
            try await withDeadline(Ingestor.deadline) { try await devices.devices(reachedAt: places) }
        }
    }

    /// What is reached at these addresses, in their order; `nil` where nobody knows anything.
    ///
    /// - Throws: A transient error when the database is away or too many ask.
    package func devices(reachedAt addresses: [DeviceAddress], in network: NetworkID) async throws -> [ReachedDevice?] {
        try await readings.submit(addresses.map { AddressPlace(networkID: network, address: $0) }, for: network)
    }
}
