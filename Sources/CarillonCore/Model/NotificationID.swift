import Crypto
package import Foundation

/// The id of one device's notification, derived from event and device, so that retries and replicas agree without a row.
///
/// A name-based UUIDv5 (RFC 9562 section 5.5) of the device id in the namespace of the event's id. It goes out as
/// `apns-id`, `webhook-id` and the like: a push service or an app that sees it twice sees one notification.
package struct NotificationID: Hashable, Sendable, CustomStringConvertible {
    /// The id as a UUID.
    package let uuid: UUID

    /// The id of the notification that tells `device` of `event`.
    package init(event: EventID, device: DeviceID) {
        var hash = Insecure.SHA1()
        withUnsafeBytes(of: event.uuid.uuid) { hash.update(bufferPointer: $0) }
        hash.update(data: Array(device.rawValue.utf8))
        var bytes = Array(hash.finalize().prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x50
        bytes[8] = bytes[8] & 0x3F | 0x80
        uuid = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// The canonical lower-case form.
    package var description: String { uuid.canonicalText }
}
