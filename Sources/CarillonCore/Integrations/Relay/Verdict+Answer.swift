extension Verdict {
    /// What holds by an endpoint's answer.
    ///
    /// - Parameters:
    ///   - answer: What came back, if anything.
    ///   - endpoint: Who was asked.
    ///   - format: In which form.
    ///   - onFailure: What becomes of the notification without a good answer.
    ///   - notification: The text about which was asked.
    ///   - content: What goes beyond the text of the notification: the data of the answer are merged into it.
    package convenience init(
        _ answer: EndpointAnswer,
        of endpoint: EndpointID,
        in format: EndpointSettings.Format = .carillon,
        onFailure: EndpointRole.Interception.Failure,
        notification: Notification,
        content: PushContent?
    ) {
        let milliseconds = Int((answer.time / .milliseconds(1)).rounded())
        func report(
            _ outcome: InterceptionReport.Ending,
            _ action: InterceptionReport.Action,
            _ reason: String?
        ) -> InterceptionReport {
            InterceptionReport(
                endpointID: endpoint,
                outcome: outcome,
                action: action,
                reason: reason,
                milliseconds: milliseconds
            )
        }
        switch answer.result {
        case .failure(let failure):
            let outcome: InterceptionReport.Ending = failure.isTimeout ? .timeout : failure.isBusy ? .busy : .error
            self.init(report(outcome, onFailure.action, failure.reason))
        case .success(let reply) where reply.status == 204:
            self.init(report(.answered, .deliver, nil))
        case .success(let reply) where reply.status != 200:
            self.init(report(.error, onFailure.action, RelayAnswer.words(for: reply.status)))
        case .success(let reply):
            do throws(InvalidInput) {
                let word = try EndpointWord(reply.body, in: format, notification, content)
                self.init(report(.answered, word.action, word.reason), changes: word.changes)
            } catch {
                let place = error.errors.first
                let reason = [place?.pointer, place?.detail].compactMap(\.self).filter { !$0.isEmpty }
                self.init(report(.invalid, onFailure.action, reason.joined(separator: " ")))
            }
        }
    }

    /// What holds for an event about which an endpoint was not asked.
    package convenience init(
        _ outcome: InterceptionReport.Ending,
        of endpoint: EndpointID,
        onFailure: EndpointRole.Interception.Failure,
        reason: String,
        time: Duration
    ) {
        self.init(
            InterceptionReport(
                endpointID: endpoint,
                outcome: outcome,
                action: onFailure.action,
                reason: reason,
                milliseconds: Int((time / .milliseconds(1)).rounded())
            )
        )
    }
}

extension EndpointRole.Interception.Failure {
    package var action: InterceptionReport.Action {
        switch self {
        case .deliver: .deliver
        case .drop: .drop
        }
    }
}

/// A good answer of status 200.
private struct EndpointWord {
    private enum Choice: String, CaseIterable {
        case deliver
        case drop
    }

    /// What Amity's receivers answer.
    private enum AmityChoice: String, CaseIterable {
        case allow
        case deny
    }

    var action: InterceptionReport.Action
    var reason: String?
    var changes: NotificationChanges

    /// Reads an answer; members that are not known are passed over.
    /// - Throws: What is wrong with it.
    init(
        _ body: [UInt8]?,
        in format: EndpointSettings.Format,
        _ notification: Notification,
        _ content: PushContent?
    ) throws(InvalidInput) {
        guard let body else {
            throw InvalidInput(problem: "invalid-answer", pointer: "", detail: "longer than 256 KiB")
        }
        guard let value = try? JSONValue(parsing: body) else {
            throw InvalidInput(problem: "invalid-answer", pointer: "", detail: "no JSON")
        }
        let errors = InputErrors()
        var reader = JSONObjectReader(value, unknown: .tolerate, into: errors)
        let isDropped: Bool
        let place: [String]
        switch format {
        case .carillon:
            isDropped = reader.choice("action", as: Choice.self, required: true) == .drop
            reason = reader.string("reason", maximumBytes: .max)
            changes = NotificationChanges(&reader)
            changes.check(with: content, reader)
            place = ["notification"]
        case .amity:
            isDropped = reader.choice("action", as: AmityChoice.self, required: true) == .deny
            reason = reader.string("message", maximumBytes: .max)
            changes = NotificationChanges()
            if var data = reader.object("data") {
                changes.texts.text.body = data.string("text", maximumBytes: .max)
            }
            place = ["data", "text"]
        }
        if !isDropped { changes.checkTexts(of: notification, reader, at: place) }
        try errors.throwIfAny(problem: "invalid-answer")
        if isDropped { changes = NotificationChanges() }
        action = isDropped ? .drop : changes.isEmpty ? .deliver : .edit
    }
}
