extension EventType {
    /// Why an event of a type is ignored, with the type that was probably meant.
    ///
    /// - Parameter name: The type, which is none that can be posted as an event.
    /// - Returns: One sentence without a full stop.
    package static func reasonToIgnore(_ name: String) -> String {
        guard name != notificationDirect.rawValue else { return "\(name) is posted to /notifications" }
        let reason = "\(name) is no type that is known"
        return meant(by: name).map { "\(reason); did you mean \($0)?" } ?? reason
    }

    private static func meant(by name: String) -> String? {
        let names = known.filter { $0.kind.describesTheChat }.map(\.rawValue)
        if let close = ClosestName(to: name.lowercased(), among: names), close.isSimilar { return close.name }
        // Of the same subject one that people are told of: what is deleted or updated is called so by everybody.
        let subject = "\(name.lowercased().prefix { $0 != "." })."
        let told = withTemplates.map(\.rawValue).filter { $0.hasPrefix(subject) }
        return ClosestName(to: name.lowercased(), among: told)?.name
    }
}
