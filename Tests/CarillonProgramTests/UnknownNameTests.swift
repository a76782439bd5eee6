import Testing

@testable import carillon

@Suite struct UnknownNameTests {
    private let known = Setting.allCases.map(\.variable)

    @Test(
        arguments: [
            ("CARILLON_DATABSE_URL", "CARILLON_DATABASE_URL"), ("CARILLON_LISTENER", "CARILLON_LISTEN"),
            ("CARILLON_LOGLEVEL", "CARILLON_LOG_LEVEL"), ("CARILLON_OPERATOR_TOKN", "CARILLON_OPERATOR_TOKEN"),
        ]
    )
    func `what was probably meant is named`(name: String, meant: String) {
        #expect("\(UnknownName(name, among: known))" == "\(name) is unknown; did you mean \(meant)?")
    }

    @Test func `a name of any length is dealt with`() {
        let name = "CARILLON_" + String(repeating: "X", count: 100_000)
        #expect("\(UnknownName(name, among: known))".contains("known are"))
    }

    @Test func `variables and names in files belong together`() {
        #expect(Setting.extraCaFile.variable == "CARILLON_EXTRA_CA_FILE")
        #expect(Setting.apnsProductionUrl.variable == "CARILLON_APNS_PRODUCTION_URL")
        for setting in Setting.allCases { #expect(Setting(variable: setting.variable) == setting) }
    }
}
