package import CarillonCore

/// Writes one JSON line per device, to see the pipeline work without any push service.
package struct LogProvider: Provider {
    package let name = ProviderName.log
    /// Lines wait this long at the most for a reader that has fallen behind.
    package let deadline = Duration.seconds(5)

    private let output: LineWriter

    /// A provider that writes to `output`, usually ``LineWriter/standardOutput``.
    package init(output: LineWriter) {
        self.output = output
    }

    /// Writes the lines of all targets at once: a line that was not written is to be tried again.
    package func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
        let lines = LogLines(group)
        guard let result = await output.write(lines.bytes, within: deadline) else { return }
        for (target, end) in zip(group.targets, lines.ends) {
            if end <= result.written {
                report(target, .delivered(id: nil))
            } else {
                report(target, .retry(after: nil, reason: result.failure ?? "output incomplete"))
            }
        }
    }
}
