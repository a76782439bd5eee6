import CarillonCore
import CarillonEdge

/// The words of the template of messages, rendered once for each language that is asked for.
struct MatrixWording {
    let subject: NotificationSubject?
    let network: Network
    let services: Services
    private(set) var renderer: NotificationRenderer?

    /// What is shown to devices of an app; `nil` where its payload says so by itself.
    mutating func texts(for binding: MatrixBinding, locale: String?) async throws -> DirectTexts? {
        guard binding.payload != .sygnal, let subject else { return nil }
        var renderer =
            if let renderer { renderer } else { try await makeRenderer(subject) }
        var texts = DirectTexts(renderer.text(for: renderer.template(for: [])))
        if let locale, let tag = LocaleTag(locale) {
            texts.byLocale[tag] = renderer.text(for: renderer.template(for: [locale]))
        }
        self.renderer = renderer
        return texts
    }

    private func makeRenderer(_ subject: NotificationSubject) async throws -> NotificationRenderer {
        NotificationRenderer(
            subject,
            catalog: services.catalog,
            networkDefault: network.defaultLocale,
            overrides: try await services.templates.overrides(of: network.id)
        )
    }
}

extension NotificationRenderer {
    fileprivate mutating func text(for key: TemplateKey) -> DirectTexts.Text {
        let notification = notification(for: key)
        return DirectTexts.Text(title: notification.title, body: notification.body)
    }
}
