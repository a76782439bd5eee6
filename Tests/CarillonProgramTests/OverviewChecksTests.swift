import CarillonCore
import Testing

@testable import carillon

/// What `doctor --all` says of networks.
@Suite struct OverviewChecksTests {
    private func report(_ id: String, _ troubles: [NetworkTrouble], waiting seconds: Int = 0) -> NetworkReport {
        NetworkReport(
            network: SurveyedNetwork(id: NetworkID(trusted: id), displayName: nil),
            state: .failing,
            troubles: troubles,
            eventsOfLastHour: 120,
            oldestWait: .seconds(seconds)
        )
    }

    private func words(_ findings: [Finding]) -> [String] {
        findings.map { "\($0.verdict.rawValue) \($0.subject): \($0.detail)" }
    }

    @Test func `each network with something wrong is one line, in the order of the overview`() {
        let lane = NetworkTrouble(.lane, "apns/app", since: .epoch, "403")
        let letters = NetworkTrouble(.deadLetters, "fcm/app", since: nil, "2 dead letters")
        #expect(
            words(
                OverviewChecks.findings(
                    of: [report("b", [lane, letters], waiting: 81), report("a", [letters])],
                    among: 9
                )
            ) == [
                "FAIL network b: lane apns/app since 1970-01-01T00:00:00.000Z: 403; deadLetters fcm/app: 2 dead letters; "
                    + "work has been waiting for 81 s; events of the last hour: 120",
                "warn network a: deadLetters fcm/app: 2 dead letters; events of the last hour: 120",
                "ok networks: 7 of 9 are well",
            ]
        )
        #expect(words(OverviewChecks.findings(of: [], among: 0)) == ["ok networks: there are none"])
        #expect(words(OverviewChecks.findings(of: [], among: 1)) == ["ok networks: 1 of 1 are well"])
    }
}
