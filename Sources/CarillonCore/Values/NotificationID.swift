package import Foundation

/// The id of one device's notification, derived from event and device, so that retries and replicas agree without a row.
///
/// A name-based UUIDv5 (RFC 9562 section 5.5) of the device id in the namespace of the event's id. It goes out as
/// `apns-id`, `webhook-id` and the like: a push service or an app that sees it twice sees one notification.
package struct NotificationID: Hashable, Sendable, CustomStringConvertible {
    package let uuid: UUID

    package init(event: EventID, device: DeviceID) {
        uuid = UUID(name: device.rawValue, in: event.uuid)
    }

    /// The canonical lower-case form.
    package var description: String { uuid.canonicalText }
}
