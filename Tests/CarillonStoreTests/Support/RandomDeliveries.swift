import CarillonCore
import CarillonTesting

/// An event on its way to people with one to three devices each, to whom all happens that can, by a seed.
struct RandomDeliveries {
    let event: EventID
    /// How many people there are.
    let users: Int
    let devices: Set<DeviceID>
    private let scene: StoreScene
    private var random: SplitMix

    init(seed: UInt64, scene: StoreScene) async throws {
        self.scene = scene
        var random = SplitMix(state: seed)
        users = Int.random(in: 4...8, using: &random)
        var targets: [Target] = []
        for user in 0..<users {
            for device in 0..<Int.random(in: 1...3, using: &random) {
                let id = DeviceID(trusted: "d\(seed)-\(user)-\(device)")
                targets.append(try await scene.target(id, of: "u\(seed)-\(user)"))
            }
        }
        devices = Set(targets.map(\.deviceID))
        var groups = [[Target]](repeating: [], count: 4)
        for target in targets.shuffled(using: &random) {
            groups[Int.random(in: groups.indices, using: &random)].append(target)
        }
        event = try await scene.enqueue(to: groups.filter { !$0.isEmpty })
        self.random = random
    }

    /// Lets something be settled, tried again or revived; answers the devices to which something happened.
    mutating func step(groups limit: Int = .max) async throws -> Set<DeviceID> {
        try await scene.passTime()
        var touched: Set<DeviceID> = []
        let claimed = try await scene.claim().map(\.group).filter { $0.cause.eventID == event }
        for group in claimed.prefix(limit) {
            let settlement = settlement(of: group)
            touched.formUnion(group.targets.map(\.deviceID))
            _ = try await scene.queue.settle([settlement])
        }
        for letter in try await scene.history.deadLetters(in: scene.network, after: nil, limit: 100)
        where letter.eventID == event && Bool.random(using: &random) {
            if try await scene.history.retryDeadLetter(letter.id, in: scene.network) {
                touched.insert(letter.record.deviceID)
            }
        }
        return touched
    }

    private mutating func settlement(of group: DeliveryGroup) -> Settlement {
        var settlement = Settlement(group: group, records: [], remainders: [])
        var later: [Target] = []
        for target in group.targets {
            let states: [DeliveryState?] = [nil, .delivered, .unregistered, .expired, .dead, .suppressed, .suppressed]
            guard let state = states.randomElement(using: &random) ?? nil else {
                later.append(target)
                continue
            }
            let level = ToggleLevel.allCases.randomElement(using: &random) ?? .user
            settlement.records.append(
                DeviceRecord(
                    deviceID: target.deviceID,
                    userID: target.userID,
                    state: state,
                    attempts: group.attempt + 1,
                    reason: state == .suppressed ? "\(level.rawValue): enabled" : nil,
                    at: WallClock.system.now()
                )
            )
        }
        let half = later.count / 2
        for share in [later.prefix(half), later.dropFirst(half)] where !share.isEmpty {
            let remainder = Remainder(targets: Array(share), attempt: group.attempt + 1, delay: .seconds(60))
            settlement.remainders.append(remainder)
        }
        return settlement
    }
}
