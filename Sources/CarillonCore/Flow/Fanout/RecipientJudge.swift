/// Judges recipients of one event by what a page of them says of the network: the fan-out does what it says, and explain
/// tells it.
package struct RecipientJudge: Sendable {
    package let question: ToggleQuestion
    /// What recipients are told; `nil` when nobody is notified.
    package let subject: NotificationSubject?
    /// Whether nobody is told because a channel without a name is all that it is about.
    package let lacksName: Bool

    private let mentions: Set<UserID>
    private let mentionsAll: Bool
    private let unconcerned: Set<UserID>
    private let evaluator: ToggleEvaluator

    /// A judge of the recipients on `page`.
    package init(_ event: Event, _ page: RecipientPage) {
        let event = event.without(membersFromBefore: page.membersFromBefore)
        question = ToggleQuestion(event: event, names: page.names)
        // An event that lacks what its type must carry notifies nobody.
        let told = event.notifies ? NotificationSubject(event: event, names: page.names) : nil
        lacksName = told?.lacksName ?? false
        subject = lacksName ? nil : told
        mentions = event.mentions
        mentionsAll = event.mentionsAll
        unconcerned = event.unconcerned
        evaluator = ToggleEvaluator(network: page.settings.toggles, question: question, now: page.readPoint.moment)
    }

    /// Those of a page's recipients whom the event is about to tell something.
    package func concerned(_ recipients: [Recipient]) -> [Recipient] { subject == nil ? [] : meant(recipients) }

    /// Those whom it would tell something if there were anything to tell.
    package func meant(_ recipients: [Recipient]) -> [Recipient] {
        recipients.filter { !unconcerned.contains($0.userID) }
    }

    /// What the toggles say.
    package func decision(on recipient: Recipient) -> Decision {
        evaluator.decide(recipient.settings, mentioned: isMentioned(recipient))
    }

    /// Why one level by itself forbids, or `nil` when it allows.
    package func objection(of level: ToggleLevel, to recipient: Recipient) -> ToggleReason? {
        evaluator.objection(of: level, recipient.settings, mentioned: isMentioned(recipient))
    }

    private func isMentioned(_ recipient: Recipient) -> Bool { mentionsAll || mentions.contains(recipient.userID) }

    /// When time alone can turn the verdict on a recipient who is allowed now; `nil` when it cannot.
    package func allowedUntil(_ recipient: Recipient) -> Timestamp? { evaluator.allowedUntil(recipient.settings) }
}

extension NotificationRenderer {
    package init(_ subject: NotificationSubject, catalog: TemplateCatalog, _ settings: NetworkSettings) {
        self.init(
            subject,
            catalog: catalog,
            networkDefault: settings.defaultLocale,
            overrides: settings.templates
        )
    }
}
