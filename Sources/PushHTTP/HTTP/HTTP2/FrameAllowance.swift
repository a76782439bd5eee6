import NIOCore
import NIOHPACK

/// How many frames and bytes that mean nothing a server may still send over a connection.
///
/// Everything is charged before it is read. What turns out to be an answer is given back, so that answers cost nothing,
/// however many there are; what is left charged is what servers send beside them. Some of that goes with what they are
/// sent: updates of windows, PINGs that measure the line, informational answers. So each request is worth a few frames,
/// and time replenishes the rest.
///
/// For one event loop.
final class FrameAllowance {
    /// So many useless frames may come at once.
    static let frames = 1_000.0
    /// So many more may, each second.
    static let framesEachSecond = 100.0
    /// So many bytes of them may come at once.
    static let bytes = 1_048_576.0
    /// So many more may, each second.
    static let bytesEachSecond = 104_858.0
    /// So many go with a request, and one more with each part of its body of so many bytes.
    private static let framesWithRequest = 4.0
    private static let bodyOfOneFrame = 4_096
    /// What requests were worth is kept up to here.
    private static let mostFrames = 5_000.0
    /// Large parts of a body cost only bytes.
    private static let largePart = 1_024
    /// A server that is told to stop may have sent two windows' worth of the answer already.
    private static let bytesAfterReset = 131_072.0

    private var framesLeft = frames
    private var bytesLeft = bytes
    private var lastFill: NIODeadline

    init(at now: NIODeadline = .now()) {
        lastFill = now
    }

    /// Charges a frame; whether there is as much left.
    func take(_ head: FrameHead, at now: NIODeadline) -> Bool {
        fill(at: now)
        let frame = head.isData && head.length >= Self.largePart ? 0.0 : 1
        let bytes = Double(FrameHead.size + head.length)
        guard framesLeft >= frame, bytesLeft >= bytes else { return false }
        framesLeft -= frame
        bytesLeft -= bytes
        return true
    }

    /// Gives back what a part of an answer's body was charged, of which so much is padding.
    func giveBackPart(of count: Int, padding: Int) {
        let length = count + padding
        give(frames: length >= Self.largePart ? 0 : 1, bytes: Double(FrameHead.size + length))
    }

    /// Gives back what the fields of an answer were charged, by their size as the protocol has it (RFC 9113 section 6.5.2), which
    /// is more than they take.
    func giveBack(_ fields: HPACKHeaders) {
        give(frames: 1, bytes: Double(FrameHead.size + HTTP2Answer.size(of: fields) + 32 * fields.count))
    }

    /// A request was sent with so much of a body.
    func add(bodyOf count: Int) {
        framesLeft = min(
            Self.mostFrames,
            framesLeft + Self.framesWithRequest + Double(count / Self.bodyOfOneFrame)
        )
    }

    /// A server was told not to go on with an answer, of which more may be on its way.
    func addRest() {
        give(frames: 0, bytes: Self.bytesAfterReset)
    }

    private func give(frames: Double, bytes: Double) {
        framesLeft = min(Self.mostFrames, framesLeft + frames)
        bytesLeft = min(Self.bytes, bytesLeft + bytes)
    }

    private func fill(at now: NIODeadline) {
        guard now > lastFill else { return }
        let seconds = Double((now - lastFill).nanoseconds) / 1e9
        framesLeft = max(framesLeft, min(Self.frames, framesLeft + seconds * Self.framesEachSecond))
        bytesLeft = min(Self.bytes, bytesLeft + seconds * Self.bytesEachSecond)
        lastFill = now
    }
}

/// What a frame begins with, as far as it costs anything (RFC 9113 section 4.1).
struct FrameHead: Equatable {
    /// How many bytes it takes.
    static let size = 9

    var length: Int
    var type: UInt8

    var isData: Bool { type == 0 }

    /// Reads it from bytes that begin `offset` behind the next one to be read; `nil` when not all of it is there.
    init?(_ bytes: ByteBuffer, at offset: Int) {
        guard bytes.readableBytes - offset >= Self.size,
            let word = bytes.getInteger(at: bytes.readerIndex + offset, as: UInt32.self)
        else { return nil }
        self.init(length: Int(word >> 8), type: UInt8(truncatingIfNeeded: word))
    }

    init(length: Int, type: UInt8) {
        self.length = length
        self.type = type
    }
}
