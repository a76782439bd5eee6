/// Asks the store whether this replica may try lanes whose pauses are over, of many at once.
struct LaneTrials: Sendable {
    struct Answer: Sendable {
        /// Of this lane alone.
        var conditions: LaneConditions
        var isOurs: Bool
    }

    private let answers: GatheredReading<Lane, Answer>

    init(store: any LaneStore) {
        answers = GatheredReading { lanes in
            let changes = lanes.map { ChangedLane($0, .trial(of: $0)) }
            let conditions = try await store.apply(changes)
            let answers = lanes.map { lane in
                let own = conditions.lanes[lane].map { [lane: $0] } ?? [:]
                let isOurs = conditions.changed.contains(lane)
                return (lane, Answer(conditions: .init(moment: conditions.moment, lanes: own), isOurs: isOurs))
            }
            return Dictionary(answers) { first, _ in first }
        }
    }

    func take(_ lane: Lane) async throws -> Answer? { try await answers.value(of: lane) }
}
