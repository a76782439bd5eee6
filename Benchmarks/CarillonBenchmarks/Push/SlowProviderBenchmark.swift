import CarillonCore

/// How many devices a second are reached through push services that take their time, and whether memory stays flat.
struct SlowProviderBenchmark: Benchmark {
    /// How often each measurement is repeated.
    let rounds: Int
    /// How many devices the event goes to.
    let devices: Int

    private static let delay = 50

    func report(in workshop: Workshop) async throws -> Report {
        var report = Report(benchmark: "slow-provider")
        for service in [PushService.apns, .fcm, .webPush] {
            workshop.say("slow-provider, \(service.title)")
            report.figures += try await figures(of: service, in: workshop)
        }
        report.notes = [
            "every request is answered after \(Self.delay) ms; one message to \(devices) devices, default settings.",
            "memory is that of the service, at the start after a first message, then after half and all of \(rounds) more.",
            "each notification arrived exactly once: as many requests as devices, and each device's delivery was recorded.",
        ]
        return report
    }

    private func figures(of service: PushService, in workshop: Workshop) async throws -> [Figure] {
        try await PushRig.withCrowd(of: devices, of: service, delay: Self.delay, in: workshop) { rig in
            var messages = PushMessages(rig)
            _ = try await messages.send()
            var rates: [Double] = []
            let process = rig.service.process
            var memory = [try process.residentBytes]
            for round in 1...rounds {
                rates.append(Double(devices) / (try await messages.send()).seconds)
                if round == rounds / 2 || round == rounds { memory.append(try process.residentBytes) }
            }
            let moments = zip(["at the start", "after half", "at the end"], memory)
            return [Figure("\(service.title), devices", Series(rates), "/s", goal: .atLeast(2000))]
                + moments.map { Figure("\(service.title), resident memory \($0)", Double($1) / 1e6, "MB") }
                + [Figure("\(service.title), its peak", Double(try process.peakResidentBytes) / 1e6, "MB")]
        }
    }
}
