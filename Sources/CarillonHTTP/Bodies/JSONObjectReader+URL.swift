import CarillonCore

extension JSONObjectReader {
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
}
