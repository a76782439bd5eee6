import CarillonCore
import CarillonTemplates

/// What one rendering costs, beside the plain interpolation of a title and a body of the same words.
struct RenderBenchmark: Benchmark {
    /// How often each measurement is repeated; the fastest counts.
    let rounds: Int

    private static let text = String(repeating: "A message of a hundred characters or so. ", count: 3)
    private static let people = (0..<64).map { "Person \($0)" }

    func report(in workshop: Workshop) async throws -> Report {
        let stopwatch = Stopwatch(rounds: rounds)
        let catalog = try TemplateCatalog(directory: "\(workshop.resources)/Templates")
        let messages = Self.people.map { person in
            NotificationSubject(.messageSent, .text, user: person, channel: "General", words: Self.text)
        }
        let joins = Self.people.map { person in
            NotificationSubject(.memberJoined, .many, user: person, channel: "General", others: 3)
        }
        let interpolation = try interpolate(stopwatch)
        let english = try render(messages, in: "en", catalog, stopwatch)
        var report = Report(benchmark: "render")
        report.figures = [
            Figure("plain interpolation", interpolation, "ns"),
            Figure("message.sent in English", english, "ns"),
            Figure("message.sent in Arabic, names isolated", try render(messages, in: "ar", catalog, stopwatch), "ns"),
            Figure("member.joined in Thai, four joiners", try render(joins, in: "th", catalog, stopwatch), "ns"),
            Figure("for one more recipient", try renderAgain(messages[0], catalog, stopwatch), "ns"),
            Figure("message.sent in English ÷ interpolation", english / interpolation),
        ]
        report.notes = [
            "a message of \(Self.text.count) characters. A fan-out renders once for each language; what one more recipient"
                + " costs is finding the text that was rendered for their languages."
        ]
        return report
    }

    private func interpolate(_ stopwatch: Stopwatch) throws -> Double {
        let channel = "General"
        return try stopwatch.nanoseconds(perOperationOf: Self.people.count) {
            Self.people.reduce(0) { sum, person in
                let title = "\(person) (\(channel))"
                let body = "\(Self.text)"
                return sum + title.utf8.count + body.utf8.count
            }
        }
    }

    private func render(
        _ subjects: [NotificationSubject],
        in locale: String,
        _ catalog: TemplateCatalog,
        _ stopwatch: Stopwatch
    ) throws -> Double {
        let used = catalog.render(subjects[0], locales: [locale]).locale
        guard used == locale else { throw BenchmarkFailure("there are no templates in \(locale)") }
        return try stopwatch.nanoseconds(perOperationOf: subjects.count) {
            subjects.reduce(0) { sum, subject in
                sum + catalog.render(subject, locales: [locale]).textBytes
            }
        }
    }

    private func renderAgain(
        _ subject: NotificationSubject,
        _ catalog: TemplateCatalog,
        _ stopwatch: Stopwatch
    ) throws -> Double {
        var renderer = NotificationRenderer(subject, catalog: catalog)
        let locales = ["en-GB", "th-TH", "ar", "ja", "es-MX", "pt", "de-AT", "xx"]
        return try stopwatch.nanoseconds(perOperationOf: locales.count) {
            locales.reduce(0) { sum, locale in
                let key = renderer.template(deviceLocale: locale, userLocale: "en")
                return sum + renderer.notification(for: key).textBytes
            }
        }
    }
}

extension Notification {
    fileprivate var textBytes: Int { title.utf8.count + body.utf8.count }
}
