import CarillonCore

extension JSONObjectReader {
    private static let maximumHostBytes = 255

    /// The URL of a server, which has to be there.
    mutating func serverURL(maximumBytes: Int, by egress: EgressGuard) -> String? {
        guard let text = string("url", required: true, maximumBytes: maximumBytes) else { return nil }
        return admits(text, as: "url", by: egress) ? text : nil
    }

    /// Whether a URL can be sent to confidentially, as far as it can be seen; what is against it is noted. Where a name leads is
    /// checked when it is used: names change.
    mutating func admits(_ url: String, as key: String, by egress: EgressGuard) -> Bool {
        do throws(EgressRefusal) {
            _ = try egress.confidential.check(url)
        } catch {
            refuse(key, error.detail)
            return false
        }
        guard !url.contains("#") else {
            refuse(key, "must not have a fragment")
            return false
        }
        return true
    }

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
