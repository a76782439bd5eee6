/// What holds for an event's notification since an endpoint was asked about it: the same on all pages of its recipients, and
/// for whoever goes on with the event (FACES section C3).
///
/// Immutable and shared: events are copied often, and nearly all of them have none.
package final class Verdict: Sendable {
    package let report: InterceptionReport
    /// What is changed where the notification is sent.
    package let changes: NotificationChanges

    package init(_ report: InterceptionReport, changes: NotificationChanges = NotificationChanges()) {
        self.report = report
        self.changes = changes
    }

    package func withholds(from user: UserID) -> Bool {
        report.action == .drop || changes.excluded.contains(user)
    }
}

extension Verdict: Equatable {
    package static func == (left: Verdict, right: Verdict) -> Bool {
        left === right || left.report == right.report && left.changes == right.changes
    }
}

extension Verdict {
    /// The verdict as the inbox keeps it: a line of what is shown, which stays with the event, and one of what is changed,
    /// which holds people's words and goes when the event is expanded.
    package var stored: String {
        changes.isEmpty ? report.stored : report.stored + "\n" + changes.json.serializedText
    }

    /// Reads what ``stored`` wrote, whole or its first line; `nil` when it is anything else.
    package convenience init?(stored text: String) {
        let lines = text.split(separator: "\n", maxSplits: 1)
        guard let first = lines.first, let json = try? JSONValue(parsing: Array(first.utf8)),
            let report = InterceptionReport(json)
        else { return nil }
        guard lines.count > 1 else {
            self.init(report)
            return
        }
        guard let json = try? JSONValue(parsing: Array(lines[1].utf8)) else { return nil }
        let errors = InputErrors()
        var reader = JSONObjectReader(json, unknown: .tolerate, into: errors)
        let changes = NotificationChanges(&reader)
        guard errors.isEmpty else { return nil }
        self.init(report, changes: changes)
    }
}
