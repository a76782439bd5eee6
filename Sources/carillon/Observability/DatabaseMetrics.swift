import CarillonStore
import CoreMetrics
import Logging
import Metrics

/// What changes slowly in the database, as numbers that an alert can be made of: its size, and certificates that end.
struct DatabaseMetrics: Sendable {
    private let size: Gauge
    private let certificates: (current: Gauge, ending: Gauge, ended: Gauge)
    private let logger: Logger

    /// Metrics that are kept by `factory`; certificates that are to be renewed are also named in the log.
    init(factory: any MetricsFactory, logger: Logger) {
        func certificates(_ state: String) -> Gauge {
            Gauge(label: "carillon_apns_certificates", dimensions: [("state", state)], factory: factory)
        }
        size = Gauge(label: "carillon_database_bytes", factory: factory)
        self.certificates = (certificates("current"), certificates("ending"), certificates("ended"))
        self.logger = logger
    }

    func record(bytes: Int64) { size.record(Double(bytes)) }

    /// Records how many certificates are good, and names those that are to be renewed and are not among `told`.
    func record(_ summary: CertificateSummary, told: Set<CertificateSummary.Ending>) {
        certificates.current.record(Double(summary.current))
        certificates.ending.record(Double(summary.ending))
        certificates.ended.record(Double(summary.ended))
        for certificate in summary.first where !told.contains(certificate) {
            logger.warning(
                "A certificate for APNs is to be renewed",
                metadata: [
                    "network": "\(certificate.networkID)", "app": "\(certificate.appID)", "ends": "\(certificate.end)",
                ]
            )
        }
    }
}
