import CarillonCore

/// What goes between replicas in the payload of a NOTIFY: the sender on the first line, then a topic and a network on each;
/// an asterisk stands for everything. Ids of networks hold no control characters, so a line is a line.
struct AnnouncementMessage: Equatable {
    /// PostgreSQL takes less than 8000 bytes.
    private static let limit = 7_900
    private static let everything = "*"

    var sender: String
    var batch: AnnouncementBatch

    init(from sender: String, _ batch: AnnouncementBatch) {
        self.sender = sender
        self.batch = batch
    }

    /// Reads a payload; `nil` for anything else. Topics that this release does not know are left out.
    init?(_ payload: String) {
        let lines = payload.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count > 1, !lines[0].isEmpty else { return nil }
        sender = String(lines[0])
        if lines[1] == Self.everything {
            batch = .everything
            return
        }
        var announcements: Set<Announcement> = []
        for line in lines.dropFirst() {
            let words = line.split(separator: " ", maxSplits: 1)
            guard words.count == 2, let network = NetworkID(String(words[1])) else { return nil }
            if let topic = Announcement.Topic(rawValue: String(words[0])) {
                announcements.insert(Announcement(topic, in: network))
            }
        }
        batch = .some(announcements)
    }

    var text: String {
        if case .some(let announcements) = batch {
            let text = announcements.reduce(into: sender) { text, announcement in
                text += "\n\(announcement.topic.rawValue) \(announcement.networkID.rawValue)"
            }
            if text.utf8.count <= Self.limit { return text }
        }
        return "\(sender)\n\(Self.everything)"
    }
}
