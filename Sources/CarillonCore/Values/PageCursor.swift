/// Where a page of an audience ended: users come first, in the order of their ids, then the devices that nobody owns.
///
/// Only who reads pages looks inside; everybody else keeps it and hands it back.
package enum PageCursor: Sendable, Hashable {
    /// Behind this user.
    case user(UserID)
    /// Behind all users, and behind this device.
    case device(DeviceID)

    /// No id begins with a control character, so that a user's id, which is all that former releases knew, is itself.
    private static let deviceMark = "\u{1}"

    package init(stored text: String) {
        if text.hasPrefix(Self.deviceMark) {
            self = .device(DeviceID(trusted: String(text.dropFirst())))
        } else {
            self = .user(UserID(trusted: text))
        }
    }

    package var stored: String {
        switch self {
        case .user(let user): user.rawValue
        case .device(let device): Self.deviceMark + device.rawValue
        }
    }
}
