import CarillonCore

/// Looks at what keeps a network's notifications from being sent.
enum LaneChecks {
    /// One line for each lane that is paused, one for those that are well.
    static func findings(of lanes: [LaneStatus]) -> [Finding] {
        let troubles = lanes.sorted { $0.lane < $1.lane }.flatMap(troubles)
        return troubles.isEmpty ? [.ok("lanes", "none is paused")] : troubles
    }

    private static func troubles(of status: LaneStatus) -> [Finding] {
        let app = status.lane.appID
        let subject = "lane \(status.lane.provider.rawValue)\(app.isEmpty ? "" : "/\(app)")"
        var findings: [Finding] = []
        if status.circuit == .open {
            let since = status.since.map { " since \($0)" } ?? ""
            let reason = status.reason.map { ": \($0)" } ?? ""
            findings.append(.fail(subject, "the circuit is open\(since)\(reason); what is sent through it waits"))
        }
        if let brake = status.brake {
            findings.append(
                .warn(
                    subject,
                    "devices that are reported as gone since \(brake.since) are not believed (\(brake.reason)): POST …/release lets go"
                )
            )
        }
        return findings
    }

    /// One line for each app that has devices and no credential.
    static func findings(
        of apps: [DeviceSelection.App],
        with credentials: [(provider: ProviderName, appID: String)]
    ) -> [Finding] {
        let places = Set(
            apps.filter(\.provider.kind.isPushService)
                .map { DeviceSelection.App($0.provider, $0.provider.kind.lanes == .byApp ? $0.appID : "") }
        )
        let known = Set(credentials.map { DeviceSelection.App($0.provider, $0.appID) })
        return places.subtracting(known).sorted { ($0.provider, $0.appID) < ($1.provider, $1.appID) }.map { place in
            let name = place.provider.rawValue
            let path = place.provider.kind.lanes == .byApp ? "\(name)/apps/\(place.appID)" : name
            return .fail(
                "\(name)\(place.appID.isEmpty ? "" : " \(place.appID)")",
                "there are devices and no credential, so that nothing is sent to them: PUT /providers/\(path)"
            )
        }
    }
}
