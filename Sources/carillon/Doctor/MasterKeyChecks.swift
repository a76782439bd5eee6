import CarillonStore
import Postgres

/// Looks whether the master key is the database's, and how far a rotation has come.
struct MasterKeyChecks: Sendable {
    private static let subject = "master key"

    let settings: Settings

    /// What is found in a database with all of its tables.
    func findings(_ pool: PostgresPool, _ box: SecretBox?) async throws -> [Finding] {
        guard let box else {
            return [.warn(Self.subject, "is not configured here, so the stored secrets were not looked at")]
        }
        let rollover = MasterKeyRollover(pool: pool, box: box)
        let verdict = try await rollover.verdict()
        let (previous, unreadable) = try await rollover.remaining()
        var findings = [finding(of: verdict, previous: previous)]
        if verdict != .wrong, unreadable > 0 {
            findings.append(
                .warn(Self.subject, "\(unreadable) secrets were sealed with yet another key: store them anew")
            )
        }
        return findings
    }

    private func finding(of verdict: MasterKeyVerdict, previous: Int) -> Finding {
        switch verdict {
        case .unused: .ok(Self.subject, "nothing is sealed yet")
        case .wrong: .fail(Self.subject, MasterKeyRotation.problem)
        case .previous: .warn(Self.subject, "the rotation has not begun: restart the service with both keys")
        case .current where previous > 0:
            .warn(
                Self.subject,
                "rotation under way: \(previous) secrets are still sealed with \(Setting.masterKeyPrevious.variable)"
            )
        case .current where settings.masterKeyPrevious != nil:
            .ok(
                Self.subject,
                "the rotation is done: nothing needs \(Setting.masterKeyPrevious.variable) any more, remove it"
            )
        case .current: .ok(Self.subject, "opens what is stored")
        }
    }
}

extension Settings {
    /// What opens the stored secrets; `nil` when no master key was made yet, as before the service first ran.
    func existingSecretBox() throws -> SecretBox? {
        let file = GeneratedSecrets(dataDirectory: dataDirectory).masterKey
        guard masterKey != nil || file.exists else { return nil }
        do {
            let key = try masterKey ?? MasterKey(try file.load().text)
            return SecretBox(masterKey: key.bytes, previous: masterKeyPrevious?.bytes)
        } catch let error as InvalidSetting {
            throw file.error(error.problem)
        }
    }
}
