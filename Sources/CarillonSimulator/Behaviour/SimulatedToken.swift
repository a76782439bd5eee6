/// Device tokens for the simulator: what they begin with says what happens to them.
package enum SimulatedToken {
    /// What an APNs token begins with that only the sandbox knows.
    package static let sandboxOnlyPrefix = "5adb0c"
    /// What an APNs token begins with that only production knows.
    package static let productionOnlyPrefix = "940d0c"

    /// A new APNs token of 64 hexadecimal digits.
    ///
    /// It begins with `prefix`, such as ``APNsReason/tokenPrefix``; without one the device is there.
    package static func apns(_ prefix: String = "") -> String {
        // No marker begins with 1.
        let start = prefix.isEmpty ? "1" : prefix
        let digits = Array("0123456789abcdef")
        return start + String((0..<max(0, 64 - start.count)).compactMap { _ in digits.randomElement() })
    }

    /// A new FCM token.
    ///
    /// It begins with `prefix`, such as `unregistered`; without one the device is there.
    package static func fcm(_ prefix: String = "") -> String {
        (prefix.isEmpty ? "device" : prefix) + "-\(random()):APA91b\(random())\(random())"
    }

    /// What makes names different: 22 characters of base64url.
    static func random() -> String {
        Base64URL.encode((0..<16).map { _ in UInt8.random(in: 0...255) })
    }
}
