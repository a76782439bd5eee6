#if canImport(UserNotifications) && !os(tvOS)
    import Foundation
    public import UserNotifications

    /// A base for the app's notification service extension: shows the picture of notifications that have one.
    ///
    /// iOS runs it for what has `mutable-content`: direct notifications with `imageUrl`, and those whose sender asks for it. Make a target
    /// of the kind *Notification Service Extension*, link this library to it, and let its class be
    ///
    /// ```swift
    /// final class NotificationService: CarillonNotificationService {}
    /// ```
    ///
    /// Override ``prepare(_:for:)`` to change what is shown.
    open class CarillonNotificationService: UNNotificationServiceExtension {
        private var pending: PendingContent?

        /// Called before anything is shown or loaded; changes nothing by itself.
        ///
        /// - Parameters:
        ///   - content: What will be shown.
        ///   - notification: What arrived.
        open func prepare(_ content: UNMutableNotificationContent, for notification: CarillonNotification) {}

        open override func didReceive(
            _ request: UNNotificationRequest,
            withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
        ) {
            guard let content = request.content.mutableCopy() as? UNMutableNotificationContent,
                let notification = CarillonNotification(userInfo: content.userInfo)
            else { return contentHandler(request.content) }
            prepare(content, for: notification)
            let pending = PendingContent(content, contentHandler)
            self.pending = pending
            guard let url = notification.imageURL else { return pending.show() }
            URLSession.shared.downloadTask(with: url) { file, _, _ in
                pending.show(with: file.flatMap { Self.attachment($0, named: url.lastPathComponent) })
            }
            .resume()
        }

        open override func serviceExtensionTimeWillExpire() {
            pending?.show()
        }

        /// The kind of picture is known by the end of its name.
        private static func attachment(_ file: URL, named name: String) -> UNNotificationAttachment? {
            let place = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString)-\(name)")
            guard (try? FileManager.default.moveItem(at: file, to: place)) != nil else { return nil }
            return try? UNNotificationAttachment(identifier: "picture", url: place)
        }
    }

    /// What is shown once: when its picture is there, or when the time is up.
    private final class PendingContent: @unchecked Sendable {
        private let lock = NSLock()
        private let content: UNMutableNotificationContent
        private var handler: ((UNNotificationContent) -> Void)?

        init(_ content: UNMutableNotificationContent, _ handler: @escaping (UNNotificationContent) -> Void) {
            self.content = content
            self.handler = handler
        }

        func show(with picture: UNNotificationAttachment? = nil) {
            lock.lock()
            let handler = handler
            self.handler = nil
            lock.unlock()
            guard let handler else { return }
            if let picture { content.attachments = [picture] }
            handler(content)
        }
    }
#endif
