/// Finds devices by their addresses: those of all who ask at the same time by one reading, since there may be thousands in a
/// second who ask for one each.
package final class AddressLookup: Sendable {
    private typealias Readings = Batcher<NetworkID, AddressKey, ReachedDevice?>

    private let readings: Placed<Readings>

    /// A look-up in the stores of placements, for which those are gathered who ask the same one.
    package init(_ devices: Placed<any AddressStore>) {
        readings = devices.map { devices in
            Readings(weight: { $0.address.text.utf8.count + 256 }) { keys, _ in
                try await UnitOfWork.run(within: Ingestor.deadline) { try await devices.devices(reachedAt: keys) }
            }
        }
    }

    /// What is reached at these addresses, in their order; `nil` where nobody knows anything.
    ///
    /// - Throws: A transient error when the database is away or too many ask.
    package func devices(reachedAt addresses: [DeviceAddress], in network: NetworkID) async throws -> [ReachedDevice?] {
        let keys = addresses.map { AddressKey(networkID: network, address: $0) }
        return try await readings.of(network).submit(keys, for: network)
    }
}
