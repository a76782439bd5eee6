import ArgumentParser

/// The neighbours by the names that they have on the command line.
enum NeighbourName: String, CaseIterable, ExpressibleByArgument, Sendable {
    case freshImport = "fresh-import"
    case silentConnections = "silent-connections"
    case fewDescriptors = "few-descriptors"
    case slowHeaders = "slow-headers"
    case idleConnections = "idle-connections"
    case silentHosts = "silent-hosts"
    case silentURLs = "silent-urls"
    case silentNames = "silent-names"
    case uselessFrames = "useless-frames"
    case waitingLanes = "waiting-lanes"
    case largeImport = "large-import"
    case largeDeletion = "large-deletion"
    case largeUser = "large-user"
    case manyTemplates = "many-templates"
    case flood
    case pageReaders = "page-readers"
    case inventedTokens = "invented-tokens"
    case refusals
    case hangingPlacement = "hanging-placement"
    case slowStop = "slow-stop"

    /// All names.
    static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// Measures what this neighbour does to others.
    func figures(in workshop: Workshop, seconds: Int, size: Double) async throws -> [Figure] {
        switch self {
        case .freshImport: return try await FreshImport(size: size).figures(in: workshop)
        case .slowStop: return try await SlowStop(size: size).figures(in: workshop)
        default:
            guard let neighbour = neighbour(in: workshop) else { return [] }
            return try await Neighbourhood(seconds: seconds, size: size).figures(beside: neighbour, in: workshop)
        }
    }

    private func neighbour(in workshop: Workshop) -> (any Neighbour)? {
        switch self {
        case .silentConnections: Strangers(count: 1_255, manner: .silent, limits: "1024:20000")
        case .fewDescriptors: Strangers(count: 400, manner: .silent, limits: "256:256")
        case .slowHeaders: Strangers(count: 4_200, manner: .slowHeaders)
        case .idleConnections: Strangers(count: 4_200, manner: .idle)
        case .silentHosts: SilentHosts(hosts: 1_200, urlsOfEach: 1)
        case .silentURLs: SilentHosts(hosts: 1, urlsOfEach: 400)
        case .silentNames: SilentNames(resolvConf: workshop.newPath("resolv.conf"))
        case .uselessFrames: UselessFrames(authorityFile: workshop.newPath("authority.pem"))
        case .waitingLanes: WaitingLanes()
        case .largeImport: LargeImport()
        case .largeDeletion: LargeDeletion()
        case .largeUser: LargeUser()
        case .manyTemplates: ManyTemplates()
        case .flood: Flood(connections: 64)
        case .pageReaders: PageReaders(connections: 64)
        case .inventedTokens: InventedTokens()
        case .refusals: Refusals()
        case .hangingPlacement: HangingPlacement(in: workshop)
        case .freshImport, .slowStop: nil
        }
    }
}

/// What an innocent network notices of neighbours who misbehave.
struct NeighboursBenchmark: Benchmark {
    /// Who misbehaves, one after the other.
    let names: [NeighbourName]
    /// How long the innocent network is measured, in quiet and beside each neighbour.
    let seconds: Int
    /// How large the neighbours are.
    let size: Double

    func report(in workshop: Workshop) async throws -> Report {
        try Descriptors.allowAll()
        var report = Report(benchmark: "neighbours")
        for name in names {
            workshop.say("neighbours, \(name.rawValue)")
            do {
                let figures = try await name.figures(in: workshop, seconds: seconds, size: size)
                report.figures += figures.map { $0.named("\(name.rawValue): \($0.name)") }
            } catch let error as CancellationError {
                throw error
            } catch {
                let missing = Figure("\(name.rawValue): measured", count: 0, goal: .atLeast(1))
                report.figures.append(missing)
                report.notes.append("\(name.rawValue) has no result: \(error)")
            }
        }
        report.notes.append(
            "the innocent network posts \(Int(Innocent.eventsPerSecond)) events a second, half of them over connections"
                + " of their own; accepting runs from when a request is due to its 202, delivery from the 202 until every"
                + " device has it. Quiet is the same network before the neighbour does anything."
        )
        return report
    }
}
