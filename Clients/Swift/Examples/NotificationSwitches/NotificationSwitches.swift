import CarillonClient
import Foundation

/// What an app's settings page does, on a terminal.
///
/// ```
/// CARILLON_USER_TOKEN=eyJ… notification-switches https://push.example.org acme [general]
/// ```
///
/// Shows what the user wants to be notified of, and turns the channel down to mentions, if one is given.
@main struct NotificationSwitches {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count >= 2, let url = URL(string: arguments[1]) else {
            print("usage: notification-switches URL NETWORK [CHANNEL]")
            exit(64)
        }
        let carillon = CarillonClient(url: url, network: arguments[2]) {
            // An app asks its own back end here, which knows who is signed in.
            ProcessInfo.processInfo.environment["CARILLON_USER_TOKEN"] ?? ""
        }
        do {
            try await show(carillon)
            if arguments.count > 2 { try await turnDown(carillon.channel(arguments[3])) }
        } catch let error as CarillonError where error.code == .unauthorized {
            print("The token is not one of this network's: \(error)")
            exit(1)
        } catch {
            print("That did not work: \(error)")
            exit(1)
        }
    }

    private static func show(_ carillon: CarillonClient) async throws {
        let settings = try await carillon.notifications.settings()
        print("notifications: \(settings.isEnabled ? "on" : "off")")
        for (module, permission) in settings.modules.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            print("  \(module.rawValue): \(permission.isAllowed ? "on" : "off")")
        }
        for device in try await carillon.devices() {
            print("device \(device.id): \(device.provider.rawValue), \(device.state.rawValue)")
        }
    }

    private static func turnDown(_ channel: CarillonClient.Channel) async throws {
        try await channel.mentionsOnly()
        let settings = try await channel.settings()
        print("channel \(channel.id): \(settings.mentionsOnly ? "mentions only" : "everything")")
    }
}
