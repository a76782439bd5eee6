import CarillonCore
import Testing

/// The built-in English of the contract, and what other tests need of other languages.
func sampleCatalog() throws -> TemplateCatalog {
    try TemplateCatalog([
        template(.channelCreated, "en", "%s", "You're now member of %s!"),
        template(
            .channelInvited,
            "en",
            "%1s",
            .variants([.channel: "%1s invited you to %2s", .direct: "%1s invited you"])
        ),
        template(.memberJoined, "en", "%s", .variants(englishJoined)),
        template(
            .messageSent,
            "en",
            title: .variants([.channel: "%1s (%2s)", .direct: "%1s"]),
            .variants(englishMessages)
        ),
        template(.messageSent, "th", "%1s (%2s)", .variants([.text: "%s", .image: "รูปภาพ", .other: "พิเศษ"])),
        template(.messageSent, "pt", "%1s em %2s", .variants([.text: "%s", .image: "Imagem", .other: "Especial"])),
        template(.messageSent, "pt-BR", "%1s no %2s", .variants([.image: "Foto"])),
        template(.messageSent, "zh-Hant", "%1s", "圖"),
        template(.messageSent, "zh", "%1s", "图"),
        template(.memberJoined, "ja", "%s", .variants([.one: "%2sに%1sさんが参加しました", .many: "%2sに%1sさんと他%3s人"])),
        template(.memberJoined, "ar", "%s", .variants([.one: "انضم %1s إلى %2s", .many: "انضم %1s و%3s إلى %2s"])),
    ])
}

private let englishJoined: [TemplateVariant: String] = [
    .one: "%1s has joined %2s", .many: "%1s and %3s others have joined %2s",
]

private let englishMessages: [TemplateVariant: String] = [
    .text: "%s", .image: "Image Message", .other: "Special message", .poll: "Poll", .location: "Location",
    .file: "File", .encrypted: "Encrypted message", .sticker: "Sticker", .call: "Call",
]

/// A checked template.
func template(
    _ eventType: EventType,
    _ locale: String,
    title: TemplateWording,
    _ body: TemplateWording
) throws -> CompiledTemplate {
    let locale = try #require(LocaleTag(locale))
    return try CompiledTemplate(TemplateSource(title: title, body: body), for: eventType, locale: locale)
}

/// A checked template whose title has no variants.
func template(
    _ eventType: EventType,
    _ locale: String,
    _ title: String,
    _ body: TemplateWording
) throws -> CompiledTemplate {
    try template(eventType, locale, title: .one(title), body)
}

/// A checked template whose body has no variants.
func template(_ eventType: EventType, _ locale: String, _ title: String, _ body: String) throws -> CompiledTemplate {
    try template(eventType, locale, title, .one(body))
}

func fill(_ title: String, _ body: String, _ subject: NotificationSubject, locale: String = "en") throws
    -> Notification
{
    let overrides = TemplateOverrides([try template(subject.eventType, locale, title, body)])
    return try sampleCatalog().render(subject, locales: [locale], overrides: overrides)
}

extension NotificationSubject {
    static func message(
        _ text: String = "Hello",
        from user: String = "Alice",
        in channel: String = "General",
        kind: Message.Kind = .text
    ) -> Self {
        Self(.messageSent, TemplateVariant(rawValue: kind.rawValue), user: user, channel: channel, words: text)
    }
}
