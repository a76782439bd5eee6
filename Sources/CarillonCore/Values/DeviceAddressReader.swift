/// Reads where a device is reached (API section 6), each provider by its own rules.
package struct DeviceAddressReader: Sendable {
    private let egress: EgressGuard
    let webPushHosts: WebPushHosts

    package init(egress: EgressGuard, webPushHosts: WebPushHosts) {
        self.egress = egress
        self.webPushHosts = webPushHosts
    }

    /// A reader of what was checked when it came in.
    static let trusting = DeviceAddressReader(egress: .unrestricted, webPushHosts: .any)

    /// Reads the members that say where a device is reached; `nil` after noting what is wrong.
    ///
    /// Whether there are unknown members is left to the caller to find.
    package func address(from reader: inout JSONObjectReader) -> DeviceAddress? {
        guard let provider = reader.choice("provider", as: ProviderName.self, required: true) else {
            // What else belongs here depends on the provider: do not call it unknown.
            for key in reader.keys { _ = reader.value(key) }
            return nil
        }
        guard ProviderName.allCases.contains(provider) else {
            reader.refuse("provider", "must be one of " + ProviderName.allCases.map(\.rawValue).joined(separator: ", "))
            return nil
        }
        return provider.kind.address.read(provider, &reader, self)
    }

    /// An absolute URL that a POST can be sent to, as far as it can be seen; of one of `hosts`, and confidentially, where
    /// they are given. Where a name leads is checked when it is used: names change.
    func url(_ key: String, from reader: inout JSONObjectReader, at hosts: WebPushHosts? = nil) -> String? {
        guard let text = reader.string(key, required: true, maximumBytes: OutboundURL.maximumBytes) else { return nil }
        do throws(EgressRefusal) {
            let url = try egress.check(text)
            guard url.isConfidential || hosts == nil else {
                reader.refuse(key, "must be an https URL")
                return nil
            }
            guard hosts?.allow(url.host) ?? true else {
                reader.refuse(key, "must be of a push service that the network's webPushHosts name")
                return nil
            }
        } catch {
            reader.refuse(key, error.detail)
            return nil
        }
        guard !text.contains("#") else {
            reader.refuse(key, "must not have a fragment")
            return nil
        }
        return text
    }
}
