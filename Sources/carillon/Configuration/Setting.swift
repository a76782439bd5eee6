/// Everything that can be configured (API section 14), by its name in a configuration file.
enum Setting: String, CaseIterable, Sendable {
    case listen
    case managementListen
    case databaseUrl
    case placements
    case poolSize
    case preparedStatements
    case announcementsUrl
    case dataDir
    case operatorToken
    case operatorTokenPrevious
    case masterKey
    case masterKeyPrevious
    case trustedProxies
    case corsOrigins
    case templatesDir
    case migrationsDir
    case console
    case consoleDir
    case logLevel
    case logFormat
    case egressAllow
    case extraCaFile
    case apnsProductionUrl
    case apnsSandboxUrl
    case fcmUrl

    static let environmentPrefix = "CARILLON_"
    /// The variable that names the configuration file; the only one that the file itself cannot hold.
    static let fileVariable = "CARILLON_CONFIG_FILE"

    /// The environment variable: `dataDir` is `CARILLON_DATA_DIR`.
    var variable: String {
        rawValue.reduce(into: Self.environmentPrefix) { name, character in
            if character.isUppercase { name.append("_") }
            name.append(character.uppercased())
        }
    }

    init?(variable: String) {
        guard let setting = Self.allCases.first(where: { $0.variable == variable }) else { return nil }
        self = setting
    }
}
