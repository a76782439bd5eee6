import NIOCore

/// Cuts a stream of bytes into HTTP/1.1 answers.
///
/// It knows no more than Carillon's answers need: no chunks, no trailers, no 1xx. The load generator shares the machine
/// with what it measures, so what matters here is to be cheap.
struct AnswerReader {
    private static let longestHead = 16_384

    private var received = ByteBuffer()

    /// Takes what arrived.
    mutating func append(_ bytes: ByteBuffer) {
        if received.readableBytes == 0 { received = bytes } else { received.writeImmutableBuffer(bytes) }
    }

    /// The next whole answer, or `nil` while there is none.
    mutating func next() throws(HTTPFailure) -> HTTPAnswer? {
        guard let head = try received.withUnsafeReadableBytes(AnswerHead.init(startOf:)) else {
            guard received.readableBytes <= Self.longestHead else { throw .malformedAnswer }
            return nil
        }
        guard received.readableBytes >= head.length + head.contentLength else { return nil }
        received.moveReaderIndex(forwardBy: head.length)
        let body = received.readSlice(length: head.contentLength) ?? ByteBuffer()
        return HTTPAnswer(status: head.status, body: body, arrivedAt: .now())
    }
}

/// What has to be known of the first part of an answer.
private struct AnswerHead {
    let length: Int
    let status: Int
    let contentLength: Int

    private static let version = Array("HTTP/1.1 ".utf8)
    private static let lengthName = Array("content-length:".utf8)

    /// Reads the head; `nil` while it is not complete.
    init?(startOf bytes: UnsafeRawBufferPointer) throws(HTTPFailure) {
        var contentLength: Int?
        var lineStart = 0
        var position = 0
        while position + 1 < bytes.count {
            guard bytes[position] == UInt8(ascii: "\r"), bytes[position + 1] == UInt8(ascii: "\n") else {
                position += 1
                continue
            }
            let line = bytes[lineStart..<position]
            position += 2
            lineStart = position
            guard line.isEmpty else {
                contentLength = Self.contentLength(in: line) ?? contentLength
                continue
            }
            guard let status = Self.status(in: bytes) else { throw .malformedAnswer }
            guard contentLength != nil || status == 204 else { throw .malformedAnswer }
            self.length = position
            self.status = status
            self.contentLength = contentLength ?? 0
            return
        }
        return nil
    }

    private static func status(in bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count >= version.count + 3, bytes.starts(with: version) else { return nil }
        return number(bytes[version.count..<version.count + 3])
    }

    private static func contentLength(in line: Slice<UnsafeRawBufferPointer>) -> Int? {
        guard line.count > lengthName.count else { return nil }
        for (byte, expected) in zip(line, lengthName) where byte | 0x20 != expected | 0x20 { return nil }
        return number(line.dropFirst(lengthName.count).drop { $0 == UInt8(ascii: " ") })
    }

    private static func number(_ digits: Slice<UnsafeRawBufferPointer>) -> Int? {
        guard (1...12).contains(digits.count) else { return nil }
        var value = 0
        for byte in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return value
    }
}
