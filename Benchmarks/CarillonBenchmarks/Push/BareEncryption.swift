import CarillonCore
import CarillonProviders
import Foundation

/// Encryption for browsers by itself, on all processors.
struct BareEncryption: Sendable {
    /// What is encrypted.
    let plaintext: [UInt8]
    /// The keys of the browsers.
    let keys: [SubscriptionKeys]

    /// Takes the keys of subscriptions.
    init(plaintext: [UInt8], addresses: [DeviceAddress]) {
        self.plaintext = plaintext
        keys = addresses.compactMap(\.keys).compactMap { SubscriptionKeys(p256dh: $0.p256dh, auth: $0.auth) }
    }

    /// Encrypts once for each browser.
    /// - Returns: How many encryptions there were a second.
    /// - Throws: What encryption throws.
    func perSecond() async throws -> Double {
        let parts = ProcessInfo.processInfo.activeProcessorCount
        let start = ContinuousClock.now
        let bytes = try await withThrowingTaskGroup(of: Int.self) { group in
            for part in 0..<parts {
                group.addTask {
                    try stride(from: part, to: keys.count, by: parts).reduce(0) {
                        $0 + (try WebPushEncryption.encrypt(plaintext, for: keys[$1])).count
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        guard bytes > keys.count * plaintext.count else { throw BenchmarkFailure("nothing was encrypted") }
        return Double(keys.count) / seconds
    }
}
