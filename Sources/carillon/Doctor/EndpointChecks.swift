import CarillonCore
import CarillonStore
import Postgres

enum EndpointChecks {
    private static let subject = "endpoints"
    /// From how many messages on somebody should know that they wait.
    static let longBacklog = 500

    /// What is found in a database with all of its tables.
    static func findings(_ pool: PostgresPool, _ box: SecretBox?) async throws -> [Finding] {
        findings(of: try await EndpointConditionReader(pool: pool, box: box).conditions())
    }

    /// A line or more for each endpoint that somebody should look at, and one for all others.
    static func findings(of conditions: [EndpointCondition]) -> [Finding] {
        guard !conditions.isEmpty else { return [.ok(subject, "no network has any")] }
        let isAll = conditions.count < EndpointConditionReader.mostEndpoints
        return .of(conditions.map(troubles), subject, "are well", isAll ? "" : "; only the first were looked at")
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
