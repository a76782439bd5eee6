import CarillonCore
import CarillonEdge

/// A network's templates in its own language, as Amity knows them: one title and one body for each event.
///
/// Carillon has further wordings, such as for pictures and for conversations of two; they stay as they are.
struct AmityTemplates: Sendable {
    struct Text: Sendable, Equatable {
        var title: String
        var body: String
    }

    let services: Services

    func texts(of network: Network) async throws -> [AmityEvent: Text] {
        let own = try await services.templates.templates(in: network.id)
        let locale = Self.locale(of: network)
        return Dictionary(
            uniqueKeysWithValues: AmityEvent.allCases.map { event in
                let sources = sources(of: event.type, locale, own)
                let title = sources.lazy.compactMap { $0.title.text(event.titleVariant) }.first
                let body = sources.lazy.compactMap { $0.body.text(event.bodyVariant) }.first
                return (event, Text(title: title ?? "", body: body ?? ""))
            }
        )
    }

    /// Writes those that are given, once all of them are found to be right.
    func write(_ changes: [AmityNetworkChange.EventChange], in network: Network) async throws {
        let changes = changes.filter { $0.title != nil || $0.body != nil }
        guard !changes.isEmpty else { return }
        let own = try await services.templates.templates(in: network.id)
        let locale = Self.locale(of: network)
        var sources: [AmityEvent: TemplateSource] = [:]
        for change in changes {
            let event = change.event
            guard var source = sources[event] ?? self.sources(of: event.type, locale, own).first else { continue }
            if let title = change.title {
                source.title = source.title.saying(title, as: event.titleVariant, of: event.type.titleVariants)
            }
            if let body = change.body {
                source.body = source.body.saying(body, as: event.bodyVariant, of: event.type.kind.variants)
            }
            do throws(InvalidInput) {
                _ = try CompiledTemplate(source, for: event.type, locale: locale)
            } catch {
                throw error.inAmitysWords(at: change.pointer)
            }
            sources[event] = source
        }
        for (event, source) in sources.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let template = TemplateOverride(
                eventType: event.type,
                locale: locale.rawValue,
                source: source,
                updatedAt: services.clock.now()
            )
            _ = try await services.templates.putTemplate(template, in: network.id)
        }
    }

    private static func locale(of network: Network) -> LocaleTag {
        network.defaultLocale.flatMap { LocaleTag($0) } ?? .english
    }

    /// The templates of an event, in the order in which they are looked into.
    private func sources(of type: EventType, _ locale: LocaleTag, _ own: [TemplateOverride]) -> [TemplateSource] {
        (locale.fallbackChain + [.english]).flatMap { locale in
            let own = own.first { $0.eventType == type && $0.locale == locale.rawValue }?.source
            return [own, services.catalog[type, locale]?.source].compactMap(\.self)
        }
    }
}

extension InvalidInput {
    /// The same, at the members in which Amity has titles and bodies.
    fileprivate func inAmitysWords(at pointer: String) -> InvalidInput {
        let errors = errors.map { error in
            let member = error.pointer.hasPrefix("/title") ? "/titleTemplate" : "/bodyTemplate"
            return FieldError(pointer: pointer + member, detail: error.detail)
        }
        return InvalidInput(problem: problem, errors: errors)
    }
}

extension AmityEvent {
    fileprivate var titleVariant: TemplateVariant { .channel }

    fileprivate var bodyVariant: TemplateVariant {
        switch self {
        case .channelCreated, .messageCreated: .text
        case .channelJoined: .one
        }
    }
}

extension TemplateWording {
    /// The words of a variant; `nil` when it is left to another template.
    fileprivate func text(_ variant: TemplateVariant) -> String? {
        switch self {
        case .one(let text): text
        case .variants(let texts): texts[variant]
        }
    }

    fileprivate func saying(
        _ text: String,
        as variant: TemplateVariant,
        of variants: [TemplateVariant]
    ) -> TemplateWording {
        guard variants.contains(variant) else { return .one(text) }
        var texts: [TemplateVariant: String] =
            switch self {
            case .one(let common): Dictionary(uniqueKeysWithValues: variants.map { ($0, common) })
            case .variants(let texts): texts
            }
        texts[variant] = text
        return .variants(texts)
    }
}
