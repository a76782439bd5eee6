import CZlib

/// Unpacks bodies that were packed with gzip (RFC 1952).
package enum Gunzip {
    package enum Failure: Error, Sendable, Equatable {
        /// There would be more of it than is taken.
        case tooLarge
        /// It is damaged, or ends early.
        case damaged
    }

    package static func isPacked(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x1F, 0x8B]) }

    /// What was packed, as long as there are no more bytes of it than `limit`: no more than that is ever made.
    package static func unpack(_ packed: [UInt8], upTo limit: Int) throws(Failure) -> [UInt8] {
        var stream = z_stream()
        guard carillon_inflate_init(&stream) == Z_OK else { throw .damaged }
        defer { inflateEnd(&stream) }
        var input = packed
        // One byte more than is taken tells that there is too much.
        var output = [UInt8](repeating: 0, count: min(limit + 1, max(1024, packed.count * 1_100)))
        let (result, written, rest) = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(clamping: input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(clamping: output.count)
                let result = inflate(&stream, Z_FINISH)
                return (result, output.count - Int(stream.avail_out), Int(stream.avail_in))
            }
        }
        guard written <= limit else { throw .tooLarge }
        guard result == Z_STREAM_END, rest == 0 else { throw .damaged }
        output.removeLast(output.count - written)
        return output
    }
}
