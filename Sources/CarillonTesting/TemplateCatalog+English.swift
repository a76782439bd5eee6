package import CarillonCore

extension TemplateCatalog {
    /// The English texts of the contract, and others.
    package static func english(and others: [CompiledTemplate] = []) throws -> TemplateCatalog {
        let invited: [TemplateVariant: String] = [.channel: "%1s invited you to %2s", .direct: "%1s invited you"]
        let joined: [TemplateVariant: String] = [
            .one: "%1s has joined %2s", .many: "%1s and %3s others have joined %2s",
        ]
        let sent: [TemplateVariant: String] = [.text: "%s", .image: "Image Message", .other: "Special message"]
        let texts: [(EventType, TemplateSource)] = [
            (.channelCreated, TemplateSource(title: "%s", body: .one("You're now member of %s!"))),
            (.channelInvited, TemplateSource(title: "%1s", body: .variants(invited))),
            (.memberJoined, TemplateSource(title: "%s", body: .variants(joined))),
            (
                .messageSent,
                TemplateSource(title: .variants([.channel: "%1s (%2s)", .direct: "%1s"]), body: .variants(sent))
            ),
        ]
        return try TemplateCatalog(texts.map { try CompiledTemplate($1, for: $0, locale: .english) } + others)
    }
}
