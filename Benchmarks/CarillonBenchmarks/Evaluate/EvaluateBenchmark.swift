import CarillonCore
import Foundation

/// What one decision of the toggles costs, beside one look-up of a user in a dictionary.
struct EvaluateBenchmark: Benchmark {
    /// How often each measurement is repeated; the fastest counts.
    let rounds: Int

    private static let users = 1_024

    func report(in workshop: Workshop) async throws -> Report {
        let stopwatch = Stopwatch(rounds: rounds)
        let lookup = try lookUp(stopwatch)
        let nothing = try decide(stopwatch) { _ in ToggleSettings() }
        let mixed = try decide(stopwatch, Self.mixedSettings)
        let quiet = try decide(stopwatch) { _ in ToggleSettings(user: Self.quiet()) }
        var report = Report(benchmark: "evaluate")
        report.figures = [
            Figure("dictionary look-up of a user id", lookup, "ns"),
            Figure("decision, nothing set", nothing, "ns"),
            Figure("decision, mixed settings", mixed, "ns"),
            Figure("decision, quiet hours", quiet, "ns"),
            Figure("decision, mixed ÷ look-up", mixed / lookup),
        ]
        report.notes = [
            "over \(Self.users) users. Mixed: of ten users one has muted, one has muted the channel, one wants mentions"
                + " only, one filters by the sender's role, one has quiet hours, and five have set nothing."
        ]
        return report
    }

    private func lookUp(_ stopwatch: Stopwatch) throws -> Double {
        let ids = (0..<Self.users).map(DirectoryLines.userID)
        let known = Dictionary(uniqueKeysWithValues: ids.enumerated().map { ($1, $0) })
        return try stopwatch.nanoseconds(perOperationOf: ids.count) {
            ids.reduce(0) { $0 + (known[$1] ?? 0) }
        }
    }

    private func decide(_ stopwatch: Stopwatch, _ settings: (Int) -> ToggleSettings) throws -> Double {
        let users = (0..<Self.users).map(settings)
        let evaluator = ToggleEvaluator(
            network: NetworkToggles(),
            question: ToggleQuestion(eventType: .messageSent, actorRoles: ["member"]),
            now: WallClock.system.now()
        )
        return try stopwatch.nanoseconds(perOperationOf: users.count) {
            users.reduce(0) { $0 + (evaluator.decide($1, mentioned: false) == .allow ? 1 : 0) }
        }
    }

    private static func mixedSettings(of user: Int) -> ToggleSettings {
        var settings = ToggleSettings()
        let end = WallClock.system.now() + .seconds(3600)
        switch user % 10 {
        case 0: settings.user.mutedUntil = end
        case 1: settings.channel.mutedUntil = end
        case 2: settings.channel.mentionsOnly = true
        case 3:
            var chat = UserToggles.ModuleToggle()
            chat.roles = .only(["moderator", "owner"])
            settings.user.modules[.chat] = chat
        case 4: settings.user = quiet()
        default: break
        }
        return settings
    }

    private static func quiet() -> UserToggles {
        var toggles = UserToggles()
        let timeZone = TimeZone(identifier: "Asia/Bangkok")
        toggles.quietHours = timeZone.flatMap { QuietHours(from: 22 * 60, to: 7 * 60, timeZone: $0) }
        return toggles
    }
}
