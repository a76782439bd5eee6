import CarillonCore
import CarillonEdge

extension JSONObjectReader {
    private static let maximumHostBytes = 255

    /// The host of devices' URLs, with its port if it has one: what names a lane where there are no apps.
    mutating func host(required: Bool = false) -> String? {
        guard let text = string("host", required: required, maximumBytes: Self.maximumHostBytes, nonEmpty: true) else {
            return nil
        }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"/?#@".utf8.contains($0) }) else {
            refuse("host", "must be a host and perhaps a port, as GET /providers shows it")
            return nil
        }
        return text.lowercased()
    }
}
