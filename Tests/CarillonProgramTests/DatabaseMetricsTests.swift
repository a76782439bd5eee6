import CarillonCore
import CarillonStore
import CarillonTesting
import Testing

@testable import carillon

@Suite struct DatabaseMetricsTests {
    @Test func `size and certificates are as the last look found them, and each that ends is named once`() {
        let registry = MetricRegistry()
        let log = CollectedLog()
        let metrics = DatabaseMetrics(factory: registry, logger: log.logger)
        func lines() -> Set<Substring> { Set(registry.exposition().split(separator: "\n")) }
        #expect(lines().contains(#"carillon_apns_certificates{state="ended"} 0"#), "\(lines())")

        let soon = CertificateSurvey.Ending(
            networkID: "acme",
            appID: "com.acme.chat",
            end: Timestamp(milliseconds: 1_795_521_600_000)
        )
        var late = soon
        late.appID = "com.acme.late"
        metrics.record(bytes: 12_345_678_901)
        metrics.record(CertificateSurvey(current: 3, ending: 1, ended: 0, first: [soon]), told: [])
        #expect(
            lines().isSuperset(of: [
                "carillon_database_bytes 12345678901", #"carillon_apns_certificates{state="current"} 3"#,
                #"carillon_apns_certificates{state="ending"} 1"#, #"carillon_apns_certificates{state="ended"} 0"#,
            ]),
            "\(lines())"
        )
        metrics.record(CertificateSurvey(current: 2, ending: 1, ended: 1, first: [late, soon]), told: [soon])
        #expect(lines().contains(#"carillon_apns_certificates{state="ended"} 1"#), "\(lines())")
        let told = log.lines("A certificate for APNs is to be renewed")
        #expect(told.map { $0["app"] } == ["com.acme.chat", "com.acme.late"])
        #expect(told.first?["network"] == "acme" && told.first?["ends"] == "2026-11-24T12:00:00.000Z")
    }
}
