package import struct Foundation.UUID
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// Makes UUIDv7 values (RFC 9562 section 5.7) that do not go backwards with a clock that is set back a little.
///
/// Within one millisecond the 12 bits after the time count up (method 1 of section 6.2), so that events keep the
/// order in which they were accepted. A clock set back by up to a minute does not change that: the last millisecond is used on until it has
/// passed. One that was further ahead had been wrong, and what is made then is as of now.
package final class UUIDv7Generator: Sendable {
    /// How far ahead of the clock ids may be.
    package static let longestLead = Duration.seconds(60)

    private let clock: WallClock
    private let last = Mutex<(milliseconds: Int64, sequence: UInt16)>((0, 0))
    private let randomness = Mutex(RandomNumbers())

    package init(clock: WallClock = .system) {
        self.clock = clock
    }

    /// A new id, greater than every one before, unless the clock was set back by more than a minute.
    package func next() -> UUID {
        let (milliseconds, sequence) = last.withLock { last in
            let now = clock.now().milliseconds
            let lead = last.milliseconds.subtractingReportingOverflow(now)
            if now > last.milliseconds || lead.overflow || lead.partialValue > Self.longestLead.wholeMilliseconds {
                last = (now, 0)
            } else if last.sequence < 0xFFF {
                last.sequence += 1
            } else {
                last = (last.milliseconds &+ 1, 0)
            }
            return last
        }
        return UUID.version7(milliseconds: milliseconds, sequence: sequence, random: randomness.withLock { $0.next() })
    }
}

/// Random numbers of the system, of which each call brings several.
private struct RandomNumbers {
    /// The most that one call brings (getentropy(3)): 256 bytes.
    private static let count = 32

    private var numbers: [UInt64] = []

    mutating func next() -> UInt64 {
        if let next = numbers.popLast() { return next }
        #if canImport(Glibc)
            numbers = [UInt64](unsafeUninitializedCapacity: Self.count) { buffer, count in
                let failure = getentropy(buffer.baseAddress, Self.count * MemoryLayout<UInt64>.size)
                count = failure == 0 ? Self.count : 0
            }
        #endif
        return numbers.popLast() ?? .random(in: .min ... .max)
    }
}

extension UUID {
    /// The smallest UUIDv7 of a moment: the boundary between ids made before and after it.
    package static func version7Floor(of moment: Timestamp) -> UUID {
        version7(milliseconds: moment.milliseconds, sequence: 0, random: 0)
    }

    static func version7(milliseconds: Int64, sequence: UInt16, random: UInt64) -> UUID {
        let time = UInt64(bitPattern: max(0, milliseconds))
        let high = time << 16 | 0x7000 | UInt64(sequence & 0xFFF)
        let low = 0x8000_0000_0000_0000 | (random & 0x3FFF_FFFF_FFFF_FFFF)
        return UUID(
            uuid: (
                high.byte(7), high.byte(6), high.byte(5), high.byte(4), high.byte(3), high.byte(2), high.byte(1),
                high.byte(0), low.byte(7), low.byte(6), low.byte(5), low.byte(4), low.byte(3), low.byte(2),
                low.byte(1), low.byte(0)
            )
        )
    }
}

extension UInt64 {
    fileprivate func byte(_ index: UInt64) -> UInt8 {
        UInt8(truncatingIfNeeded: self >> (index * 8))
    }
}
