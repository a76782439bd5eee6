/// A directory of channels, members and devices in which everything is numbered, as lines for the import.
///
/// The members of a channel are consecutive users, and the next channel goes on where the last one stopped, over and over.
struct DirectoryLines: Sendable {
    /// How many users there are.
    let userCount: Int
    /// How many channels there are.
    let channelCount: Int
    /// How many members each channel has; at most as many as there are users.
    let membersPerChannel: Int
    /// The device that each user has, if any.
    var device: Device?

    /// A kind of device.
    enum Device: Sendable {
        /// Lines on the service's standard output.
        case log
        /// Requests to a port of this machine.
        case webhook(port: Int)
    }

    /// The member of a channel at a position.
    func member(_ position: Int, ofChannel channel: Int) -> Int {
        (channel * membersPerChannel + position) % userCount
    }

    /// The lines, each with its line feed.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity((userCount * 2 + channelCount * membersPerChannel) * 100)
        for user in 0..<userCount {
            let line = #"{"user":{"id":"\#(Self.userID(user))","displayName":"User \#(user)","roles":["member"]}}"#
            bytes.append(line: line)
        }
        for channel in 0..<channelCount {
            let id = Self.channelID(channel)
            bytes.append(line: #"{"channel":{"id":"\#(id)","displayName":"Channel \#(channel)"}}"#)
            for position in 0..<membersPerChannel {
                let user = Self.userID(member(position, ofChannel: channel))
                bytes.append(line: #"{"member":{"channelId":"\#(id)","userId":"\#(user)"}}"#)
            }
        }
        guard let device else { return bytes }
        for user in 0..<userCount {
            let id = Self.userID(user)
            bytes.append(line: #"{"device":{"id":"d-\#(id)","userId":"\#(id)",\#(device.json(of: id))}}"#)
        }
        return bytes
    }

    /// The id of a user: all have the same length and end in the number.
    static func userID(_ number: Int) -> String { "user-" + padded(number) }

    /// The id of a channel.
    static func channelID(_ number: Int) -> String { "channel-" + padded(number) }

    private static func padded(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 7 - digits.count)) + digits
    }
}

extension DirectoryLines.Device {
    /// The members of the device's JSON object besides its ids.
    fileprivate func json(of userID: String) -> String {
        switch self {
        case .log: #""provider":"log""#
        case .webhook(let port): #""provider":"webhook","url":"http://127.0.0.1:\#(port)/\#(userID)""#
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(line: String) {
        append(contentsOf: line.utf8)
        append(UInt8(ascii: "\n"))
    }
}
