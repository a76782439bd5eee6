import Foundation

/// What a running `carillon serve` needs to use a ``Simulator``, as files.
package struct SimulatorFiles: Sendable {
    /// A device to register.
    package struct Device: Sendable {
        /// What it is, and what happens to it.
        package let name: String
        /// The path of the body for `PUT /devices/{device}`.
        package let path: String
    }

    /// The environment variables for `carillon serve`, with their values.
    package let environment: [(name: String, value: String)]
    /// The path of a file that a shell reads to set them.
    package let environmentFile: String
    /// The path of the body for `PUT /providers/apns/apps/{appId}`.
    package let apnsCredential: String
    /// The path of the body for `PUT /providers/fcm/apps/{appId}`.
    package let fcmCredential: String
    /// The path of the body for `PUT /providers/webpush`.
    package let webPushCredential: String
    /// Devices that are there, and devices that have gone.
    package let devices: [Device]
}

extension Simulator {
    /// The environment variables for `carillon serve`, with their values.
    package var environment: [(name: String, value: String)] {
        [
            ("CARILLON_APNS_PRODUCTION_URL", urls.apnsProduction), ("CARILLON_APNS_SANDBOX_URL", urls.apnsSandbox),
            ("CARILLON_FCM_URL", urls.fcm), ("CARILLON_EXTRA_CA_FILE", certificateAuthorityFile),
            ("CARILLON_EGRESS_ALLOW", "127.0.0.0/8"),
        ]
    }

    /// Writes environment, credentials and the devices of an app beside the root certificate.
    package func writeFiles(appID: String) throws -> SimulatorFiles {
        let lines = environment.map { "export \($0.name)='\($0.value)'\n" }
        let serviceAccount = try serviceAccountJSON
        let apns = ["teamId": apnsKey.teamID, "keyId": apnsKey.keyID, "privateKey": apnsKey.privateKeyPEM]
        return SimulatorFiles(
            environment: environment,
            environmentFile: try write(lines.joined(), to: "environment.sh"),
            apnsCredential: try write(JSONText.text(apns), to: "apns-credential.json"),
            fcmCredential: try write(#"{"serviceAccount":\#(serviceAccount)}"#, to: "fcm-credential.json"),
            webPushCredential: try write(#"{"subject":"mailto:ops@example.com"}"#, to: "webpush-credential.json"),
            devices: try writeDevices(appID: appID)
        )
    }

    private func writeDevices(appID: String) throws(SimulatorError) -> [SimulatorFiles.Device] {
        func apns(_ prefix: String = "") -> JSONText.Object {
            let token = SimulatedToken.apns(prefix)
            return ["provider": "apns", "appId": appID, "environment": "production", "token": token]
        }
        func fcm(_ prefix: String = "") -> JSONText.Object {
            ["provider": "fcm", "appId": appID, "token": SimulatedToken.fcm(prefix)]
        }
        func browser(_ prefix: String = "") -> JSONText.Object {
            let subscription = makeSubscription(prefix)
            let keys = ["p256dh": subscription.p256dh, "auth": subscription.auth]
            return ["provider": "webpush", "subscription": ["endpoint": subscription.endpoint, "keys": keys]]
        }
        let examples: [(String, JSONText.Object)] = [
            ("iphone", apns()), ("iphone-unregistered", apns(APNsReason.unregistered.tokenPrefix)),
            ("android", fcm()), ("android-unregistered", fcm(FCMRefusal.unregistered.tokenPrefix)),
            ("browser", browser()), ("browser-gone", browser(WebPushRefusal.gone.tokenPrefix)),
        ]
        var devices: [SimulatorFiles.Device] = []
        for (name, members) in examples {
            var device = members
            device["userId"] = "alice"
            devices.append(.init(name: name, path: try write(JSONText.text(device), to: "device-\(name).json")))
        }
        return devices
    }
}

struct GeneratedFiles: Sendable {
    let directory: String
    private let isTemporary: Bool

    /// Keeps them in a folder, which is made; without one they are in a folder that ``remove()`` removes.
    init(directory: String?) throws(SimulatorError) {
        isTemporary = directory == nil
        let temporary = FileManager.default.temporaryDirectory
        self.directory = directory ?? temporary.appending(path: "carillon-simulator-\(UUID().uuidString)").path
        do {
            try FileManager.default.createDirectory(atPath: self.directory, withIntermediateDirectories: true)
        } catch {
            throw SimulatorError.cannotWrite(path: self.directory)
        }
    }

    /// Writes a file that only its owner can read, and answers its path.
    func write(_ text: String, to name: String) throws(SimulatorError) -> String {
        let path = "\(directory)/\(name)"
        // Replaced rather than written over: its permissions might be wider.
        try? FileManager.default.removeItem(atPath: path)
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: path, contents: Data(text.utf8), attributes: attributes) else {
            throw SimulatorError.cannotWrite(path: path)
        }
        return path
    }

    func remove() {
        if isTemporary { try? FileManager.default.removeItem(atPath: directory) }
    }
}
