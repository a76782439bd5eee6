import Foundation
import Subprocess

/// The secrets that a service needs to be given when its database is not its own.
struct ServiceSecrets: Sendable {
    /// The operator's credential.
    let operatorToken = Self.randomText(bytes: 36)
    /// The key that encrypts secrets at rest.
    let masterKey = Self.randomText(bytes: 32)

    private static func randomText(bytes count: Int) -> String {
        Data((0..<count).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()
    }
}

extension Cluster {
    /// The environment of a Carillon on this database: everything that is not named here has its default.
    var environment: [Environment.Key: String] {
        [
            "PATH": "/usr/bin:/bin",
            "CARILLON_DATABASE_URL": url,
            "CARILLON_OPERATOR_TOKEN": secrets.operatorToken,
            "CARILLON_MASTER_KEY": secrets.masterKey,
            "CARILLON_LISTEN": "127.0.0.1:0",
            "CARILLON_MANAGEMENT_LISTEN": "127.0.0.1:0",
            "CARILLON_DATA_DIR": "\(workshop.directory)/data",
            "CARILLON_LOG_FORMAT": "json",
        ]
    }
}
