extension ProviderName {
    /// A line on standard output, to see the pipeline work.
    package static let log = ProviderName(
        ProviderKind(name: "log", address: .none, lanes: .single, isPushService: false)
    )

    /// A signed POST to a URL.
    package static let webhook = ProviderName(
        ProviderKind(name: "webhook", address: .url, lanes: .byHost, isPushService: false, isBelieved: true)
    )

    /// A signed POST to an endpoint, which is no device.
    package static let relay = ProviderName(
        ProviderKind(name: "relay", address: .none, lanes: .byHost, isPushService: false, isBelieved: true)
    )
}

extension DeviceAddress {
    package static let log = DeviceAddress(.log)

    package static func webhook(url: String) -> DeviceAddress { DeviceAddress(.webhook, url) }
}

extension AddressForm {
    /// Nothing: there is but one.
    fileprivate static let none = AddressForm(read: { name, _, _ in DeviceAddress(name) }, write: { _, _, _ in })

    fileprivate static let url = AddressForm { provider, reader, addresses in
        addresses.url("url", from: &reader).map { DeviceAddress(provider, $0) }
    } write: { address, _, json in
        json["url"] = .string(address.text)
    }
}
