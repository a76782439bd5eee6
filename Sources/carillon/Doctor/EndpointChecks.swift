import CarillonCore
import CarillonStore
import Postgres

struct EndpointChecks: Sendable {
    private static let subject = "endpoints"
    /// From how many messages on somebody should know that they wait.
    static let longBacklog = 500

    let settings: Settings

    /// What is found in a database with all of its tables.
    func findings(_ pool: PostgresPool) async throws -> [Finding] {
        let box = try MasterKey.existing(in: settings).flatMap { key in
            SecretBox(masterKey: key.bytes, previous: settings.masterKeyPrevious?.bytes)
        }
        return Self.findings(of: try await EndpointConditionReader(pool: pool, box: box).conditions())
    }

    /// One line for each endpoint that somebody should look at, and one for all others.
    static func findings(of conditions: [EndpointCondition]) -> [Finding] {
        guard !conditions.isEmpty else { return [.ok(subject, "no network has any")] }
        let troubles = conditions.map(troubles)
        let well = troubles.count(where: \.isEmpty)
        let more = conditions.count == EndpointConditionReader.mostEndpoints ? "; only the first were looked at" : ""
        return troubles.flatMap(\.self) + [.ok(subject, "\(well) of \(conditions.count) are well\(more)")]
    }

    private static func troubles(of condition: EndpointCondition) -> [Finding] {
        let subject = "endpoint \(condition.network)/\(condition.endpoint.id)"
        let endpoint = condition.endpoint
        guard condition.isReadable else {
            return [.fail(subject, "its secret cannot be read, so nothing is sent: rotate it")]
        }
        var findings: [Finding] = []
        if endpoint.state == .disabled {
            let reason = endpoint.stateReason ?? "by an admin"
            findings.append(
                .warn(subject, "disabled since \(endpoint.stateAt) (\(reason)): PATCH {\"enabled\":true} goes on")
            )
        } else if let pause = condition.pause {
            findings.append(.warn(subject, "the circuit is open (\(pause)): it is tried again by itself"))
        } else if endpoint.settings.role.mode == .intercept, let error = endpoint.lastError {
            findings.append(.warn(subject, "the last question failed (\(error))"))
        }
        if condition.backlog >= longBacklog {
            let isAll = condition.backlog < EndpointConditionReader.mostCounted
            findings.append(.warn(subject, "\(condition.backlog)\(isAll ? "" : " or more") messages wait for it"))
        }
        return findings
    }
}
