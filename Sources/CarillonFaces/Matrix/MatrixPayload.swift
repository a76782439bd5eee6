import CarillonCore

/// What apps get that were built for Sygnal: a raw part that replaces whatever is built in (FACES section D3).
///
/// A pure translation of a notification for one device; `nil` where nothing is sent.
struct MatrixPayload {
    /// The longest name of somebody or something, in bytes of UTF-8.
    static let longestName = 256
    static let longestText = 1_024
    /// Where the final text goes, however the core cleans and cuts it.
    static let body: JSONValue = ["$text": "body"]

    let translation: MatrixTranslation
    let device: MatrixNotification.Device
    let binding: MatrixBinding

    var notification: MatrixNotification { translation.notification }

    /// The part for a push service; `nil` when there is nothing to send.
    func part(for provider: ProviderName) -> RawPart? {
        switch provider {
        case .apns: apns
        case .fcm: fcm
        case .webpush: webpush
        default: nil
        }
    }

    var badge: Int? {
        binding.showsBadge ? notification.counts.sum.map { min($0, PushContent.largestBadge) } : nil
    }
}

extension MatrixNotification {
    /// The content as browsers get it: without what they have no use for, and without what they fetch anyway; the place of the words in
    /// place of the words.
    var shownContent: JSONObject {
        var shown = JSONObject()
        for (key, value) in content.members where key != "formatted_body" {
            if key == "ciphertext", value.isLonger(than: MatrixPayload.longestText) { continue }
            shown[key] = value
        }
        if body != nil { shown["body"] = MatrixPayload.body }
        return shown
    }
}

extension String {
    /// As much of a name as is shown, without what its owner may not show to others.
    var shownName: String {
        withoutControls(onOneLine: true).shortened(toCharacters: .max, bytes: MatrixPayload.longestName)
    }
}

extension JSONValue {
    /// Whether its text, or its JSON where it is none, takes more bytes than so many.
    fileprivate func isLonger(than bytes: Int) -> Bool {
        if case .string(let text) = self { return text.utf8.count > bytes }
        return serialized.count > bytes
    }
}
