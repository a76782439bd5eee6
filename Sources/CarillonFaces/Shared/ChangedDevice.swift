import CarillonCore
import CarillonEdge

/// What is made of a device as it was read, and written only if nobody has changed it since.
enum ChangedDevice {
    private static let attempts = 10

    /// Reads, judges and writes again where somebody else wrote in between.
    ///
    /// - Parameter body: All of it, which throws ``DeviceChanged`` where that is so.
    /// - Returns: What `body` answers.
    /// - Throws: 503 when it happens again and again, and what `body` throws.
    static func repeating<Value>(_ body: () async throws -> Value) async throws -> Value {
        for _ in 0..<attempts {
            do { return try await body() } catch is DeviceChanged {}
        }
        throw Problem.serviceUnavailable()
    }
}
