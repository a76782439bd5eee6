package import CarillonCore

extension EndpointRole {
    package static let observing = EndpointRole.observe(.init())
    package static let intercepting = EndpointRole.intercept(
        .init(timeout: 700, onFailure: .drop, includesRecipients: false)
    )
}

extension Endpoint {
    /// An endpoint that was made at the beginning of time.
    package static func sample(
        _ id: EndpointID,
        _ role: EndpointRole = .observing,
        _ events: [String] = ["*"],
        description: String? = nil
    ) -> Endpoint {
        Endpoint(
            id: id,
            settings: EndpointSettings(
                url: "https://bot.acme.example/\(id)",
                role: role,
                events: EndpointEvents(trusted: events),
                description: description
            ),
            createdAt: .seconds(1)
        )
    }
}
