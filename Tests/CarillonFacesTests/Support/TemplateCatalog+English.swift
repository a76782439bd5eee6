import CarillonCore

extension TemplateCatalog {
    /// The English texts of the contract.
    static var english: TemplateCatalog {
        get throws {
            let texts: [(EventType, TemplateSource)] = [
                (.channelCreated, TemplateSource(title: "%s", body: .one("You're now member of %s!"))),
                (
                    .channelInvited,
                    TemplateSource(
                        title: "%1s",
                        body: .variants([.channel: "%1s invited you to %2s", .direct: "%1s invited you"])
                    )
                ),
                (
                    .memberJoined,
                    TemplateSource(
                        title: "%s",
                        body: .variants([.one: "%1s has joined %2s", .many: "%1s and %3s others have joined %2s"])
                    )
                ),
                (
                    .messageSent,
                    TemplateSource(
                        title: .variants([.channel: "%1s (%2s)", .direct: "%1s"]),
                        body: .variants([.text: "%s", .image: "Image Message", .other: "Special message"])
                    )
                ),
            ]
            return try TemplateCatalog(texts.map { try CompiledTemplate($1, for: $0, locale: .english) })
        }
    }
}
