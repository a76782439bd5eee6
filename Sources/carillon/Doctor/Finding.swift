/// What one check found, in plain words.
struct Finding: Sendable, Equatable {
    enum Verdict: String, Sendable {
        /// As it should be.
        case ok
        /// It works, but somebody should look at it.
        case warn
        /// It does not work like this.
        case fail = "FAIL"
    }

    let verdict: Verdict
    let subject: String
    /// What is the case and, unless all is well, what to do about it.
    let detail: String

    static func ok(_ subject: String, _ detail: String) -> Finding {
        Finding(verdict: .ok, subject: subject, detail: detail)
    }

    static func warn(_ subject: String, _ detail: String) -> Finding {
        Finding(verdict: .warn, subject: subject, detail: detail)
    }

    static func fail(_ subject: String, _ detail: String) -> Finding {
        Finding(verdict: .fail, subject: subject, detail: detail)
    }
}

extension [Finding] {
    /// What is wrong with each of several, and in one line how many are well.
    static func of(_ troubles: [[Finding]], _ subject: String, _ words: String, _ more: String = "") -> [Finding] {
        let well = troubles.count(where: \.isEmpty)
        let rest = [Finding.ok(subject, "\(well) of \(troubles.count) \(words)\(more)")]
        return troubles.flatMap(\.self) + (well > 0 || !more.isEmpty ? rest : [])
    }
}

extension Terminal {
    func show(_ finding: Finding) {
        let style: Style =
            switch finding.verdict {
            case .ok: .green
            case .warn: .yellow
            case .fail: .red
            }
        let verdict = finding.verdict.rawValue.padded(to: 5)
        line("\(styled(verdict, style)) \(finding.subject.padded(to: 18)) \(finding.detail)")
    }
}
