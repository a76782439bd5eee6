/// Hands notifications to one push service.
///
/// A provider never retries, waits or touches the database: it answers for each device, and the dispatcher decides.
/// Every call ends by itself: each request has a deadline, each answer a size limit.
package protocol Provider: Sendable {
    var name: ProviderName { get }

    /// How long one device can take at the most: a group is not begun when its lease would end before.
    var deadline: Duration { get }

    /// Sends a group's notification to all of its targets and reports each exactly once, in any order, as it becomes known.
    ///
    /// When the task is cancelled, nothing more is begun; what is on the wire is waited for until its own deadline, and
    /// reported, since the push service may act on it. The same when the credential that it sends with is changed or deleted
    /// meanwhile. The rest stays unreported: it was not sent, and does not count as an attempt.
    func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async
}
