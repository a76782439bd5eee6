import CarillonCore
import CarillonEdge
import Hummingbird

/// The templates of a network: the built-in ones and its own in their place (API section 7). For admins.
struct TemplateController: Controller {
    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        let admins = admins(router)
        let template = "/templates/{eventType}/{locale}"
        admins.pages("/templates", use: list)
        admins.show(template) { request in
            let (type, locale) = try key(request)
            let own = try await services.templates.templates(in: request.network).compactMap(ListedTemplate.init)
                .first { $0.eventType == type && $0.locale == locale }
            return (own ?? services.catalog[type, locale].map(ListedTemplate.init))?.json
        }
        admins.store(template, put)
        admins.delete(template, use: delete)
        admins.post("/templates/preview", use: preview)
    }

    private func list(_ request: NetworkRequest) async throws -> Response {
        let page = try request.page()
        var listed: [String: ListedTemplate] = [:]
        for type in EventType.withTemplates {
            for locale in services.catalog.locales(for: type) {
                guard let template = services.catalog[type, locale].map(ListedTemplate.init) else { continue }
                listed[template.key] = template
            }
        }
        for template in try await services.templates.templates(in: request.network).compactMap(ListedTemplate.init) {
            listed[template.key] = template
        }
        return page.answer(listed.values.sorted { $0.key < $1.key }, by: \.key, \.json)
    }

    private func put(_ request: NetworkRequest) async throws -> (stored: JSONValue, isNew: Bool) {
        let (type, locale) = try key(request)
        let source = try TemplateSource(json: await request.json())
        _ = try CompiledTemplate(source, for: type, locale: locale)
        let override = TemplateOverride(
            eventType: type,
            locale: locale.rawValue,
            source: source,
            updatedAt: services.clock.now()
        )
        let isNew = try await services.templates.putTemplate(override, in: request.network)
        guard let listed = ListedTemplate(override) else { throw Problem.internalError }
        return (listed.json, isNew)
    }

    private func delete(_ request: NetworkRequest) async throws -> Response {
        let (type, locale) = try key(request)
        guard try await services.templates.deleteTemplate(type, locale: locale.rawValue, in: request.network) else {
            throw Problem.notFound("only a network's own templates can be deleted")
        }
        return .noContent
    }

    private func preview(_ request: NetworkRequest) async throws -> Response {
        let wanted = try TemplatePreview(json: await request.json(), clock: services.clock)
        let query = RecipientQuery(networkID: request.network, prospect: wanted.event, only: [])
        let page = try await services.recipients.page(for: query)
        guard let subject = NotificationSubject(event: wanted.event, names: page.names), !subject.lacksName else {
            let lacksName = RecipientJudge(wanted.event, page).lacksName
            let detail = lacksName ? WhyNobody.noName.sentence : "lacks what its type must carry"
            throw InvalidInput(problem: "invalid-preview", pointer: "/event", detail: detail)
        }
        var settings = page.settings
        if let template = wanted.template { settings.templates.insert(template) }
        let notification = services.catalog.render(
            subject,
            locales: [wanted.locale.rawValue],
            networkDefault: settings.defaultLocale,
            overrides: settings.templates
        )
        return .json([
            "title": .string(notification.title),
            "body": .string(notification.body),
            "locale": .string(notification.locale),
        ])
    }

    /// The event type and the locale of the path. A type that notifies nobody has no templates.
    private func key(_ request: NetworkRequest) throws(Problem) -> (EventType, LocaleTag) {
        let type = EventType(try request.context.segment("eventType"))
        guard type.hasTemplates else {
            let types = EventType.withTemplates.map(\.rawValue).joined(separator: ", ")
            throw .notFound("there are templates for \(types)")
        }
        guard let locale = LocaleTag(try request.context.segment("locale")) else {
            throw .invalidID("locale", "must be a language tag of BCP 47, such as th or pt-BR")
        }
        return (type, locale)
    }
}
