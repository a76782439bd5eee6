import CarillonCore
import Synchronization

/// Reads the messages of a row a few at a time, when the first of these is begun.
///
/// A body is held until it is taken: of a row there are no more than what is on its way, and one slice. What is begun long
/// after its slice was read is read by itself, so that what was changed meanwhile holds.
final class RelaySlices: Sendable {
    /// How many are read together.
    static let size = DeliveryGroup.messagesAtATime

    private enum Slice {
        case held(Task<[RelayKey: RelayMessage], any Error>, since: ContinuousClock.Instant, untaken: Int)
        /// All have taken theirs, or what nobody took is too old.
        case gone
    }

    /// For how long what was read is taken for what is.
    private static let life = Duration.seconds(2)

    private let keys: [RelayKey]
    private let positions: [RelayKey: Int]
    private let network: NetworkID
    private let source: Placed<GatheredReading<RelayKey, RelayMessage>>
    private let slices = Mutex<[Int: Slice]>([:])

    init(of keys: [RelayKey], in network: NetworkID, _ source: Placed<GatheredReading<RelayKey, RelayMessage>>) {
        self.keys = keys
        self.network = network
        positions = Dictionary(zip(keys, keys.indices)) { first, _ in first }
        self.source = source
    }

    /// A message of the row as it is now, or was a moment ago; `nil` where there is no such endpoint. To be asked once for each.
    func message(of key: RelayKey) async throws -> RelayMessage? {
        guard let reading = positions[key].flatMap(reading) else {
            return try await source.of(network).value(of: key)
        }
        return try await reading.value[key]
    }

    /// The reading that has the message at a place, begun by the first who asks for one of its slice.
    private func reading(at position: Int) -> Task<[RelayKey: RelayMessage], any Error>? {
        let number = position / Self.size
        return slices.withLock { slices in
            switch slices[number] {
            case .gone: return nil
            case .held(_, let since, _) where .now - since >= Self.life:
                slices[number] = .gone
                return nil
            case .held(let reading, let since, let untaken):
                slices[number] = untaken > 1 ? .held(reading, since: since, untaken: untaken - 1) : .gone
                return reading
            case nil:
                let slice = Array(keys[(number * Self.size)...].prefix(Self.size))
                let reading = Task { [source, network] in try await source.of(network).values(of: slice) }
                slices[number] = slice.count > 1 ? .held(reading, since: .now, untaken: slice.count - 1) : .gone
                return reading
            }
        }
    }
}
