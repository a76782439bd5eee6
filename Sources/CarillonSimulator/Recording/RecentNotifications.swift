/// The newest notifications, up to a limit.
struct RecentNotifications {
    private let limit: Int
    private var elements: [ReceivedNotification] = []
    private var oldest = 0

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Oldest first.
    var inOrder: [ReceivedNotification] { Array(elements[oldest...] + elements[..<oldest]) }

    mutating func append(_ notification: ReceivedNotification) {
        if elements.count < limit {
            elements.append(notification)
        } else {
            elements[oldest] = notification
            oldest = (oldest + 1) % limit
        }
    }
}
