import CarillonCore
import Logging

/// The two secrets that a service cannot work without.
struct ServiceSecrets: Sendable {
    let operatorToken: Secret
    let masterKey: MasterKey

    /// Takes the configured secrets, and those in the data directory in place of missing ones.
    ///
    /// - Parameters:
    ///   - settings: The configuration; it has both secrets unless the cluster is embedded.
    ///   - logger: Told where new secrets are.
    /// - Throws: ``ConfigurationError``.
    init(_ settings: Settings, logger: Logger) throws(ConfigurationError) {
        let files = GeneratedSecrets(dataDirectory: settings.dataDirectory)
        operatorToken = try Self.secret(
            settings.operatorToken,
            files.operatorToken,
            logger,
            Secret.init(operatorToken:)
        )
        masterKey = try Self.secret(settings.masterKey, files.masterKey, logger, MasterKey.init(_:))
    }

    private static func secret<Value>(
        _ configured: Value?,
        _ file: GeneratedSecrets.SecretFile,
        _ logger: Logger,
        _ parse: (String) throws(InvalidSetting) -> Value
    ) throws(ConfigurationError) -> Value {
        if let configured { return configured }
        let (text, isNew) = try file.load()
        if isNew { logger.notice("Generated a secret", metadata: ["file": "\(file.path)"]) }
        if file.strangersPermissions != 0 {
            logger.warning("A secret can be read by others: chmod 600 it", metadata: ["file": "\(file.path)"])
        }
        do throws(InvalidSetting) {
            return try parse(text)
        } catch {
            throw file.error(error.problem)
        }
    }
}
