import CarillonCore
import CarillonSimulator

/// Users and channels with devices of push services.
struct PushDirectory: Sendable {
    /// A device and whose it is.
    struct Device: Sendable {
        /// Its id.
        let id: String
        /// The number of its user.
        let user: Int
        /// Where it is reached.
        let address: DeviceAddress
    }

    /// The users and channels, without devices.
    let shape: DirectoryLines
    /// Their devices.
    let devices: [Device]

    /// One channel in which everybody has a device but the first, who sends.
    static func crowd(of addresses: [DeviceAddress]) -> PushDirectory {
        let members = addresses.count + 1
        return PushDirectory(
            shape: DirectoryLines(userCount: members, channelCount: 1, membersPerChannel: members),
            devices: addresses.enumerated().map { Device(id: "phone-\($0 + 1)", user: $0 + 1, address: $1) }
        )
    }

    /// Many channels; the users have an iPhone, an Android phone, or in every second case both.
    static func chat(userCount: Int, channelCount: Int, membersPerChannel: Int) -> PushDirectory {
        let shape = DirectoryLines(
            userCount: userCount,
            channelCount: channelCount,
            membersPerChannel: membersPerChannel
        )
        var devices: [Device] = []
        for user in 0..<userCount {
            if user % 4 != 2 {
                let token = SimulatedToken.apns()
                let address = DeviceAddress.apns(token: token, appID: PushService.appID, environment: .production)
                devices.append(Device(id: "iphone-\(user)", user: user, address: address))
            }
            if user % 4 != 0 {
                let address = DeviceAddress.fcm(token: SimulatedToken.fcm(), appID: PushService.appID)
                devices.append(Device(id: "android-\(user)", user: user, address: address))
            }
        }
        return PushDirectory(shape: shape, devices: devices)
    }

    /// The lines for the import.
    var bytes: [UInt8] {
        var bytes = shape.bytes
        for device in devices {
            var members = device.address.json(isShown: false)
            members["id"] = .string(device.id)
            members["userId"] = .string(DirectoryLines.userID(device.user))
            let line: JSONValue = ["device": .object(members)]
            line.serialize(into: &bytes)
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }
}
