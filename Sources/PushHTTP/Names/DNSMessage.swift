import CarillonCore
import NIOCore

/// What a name server is asked: the addresses of one version that a name has.
struct DNSQuestion: Hashable, Sendable {
    /// The type of the records that are wanted (RFC 1035 section 3.2.2, RFC 3596).
    enum RecordType: UInt16, Sendable {
        case a = 1
        case aaaa = 28
    }

    /// The name in small letters, without a dot at its end.
    let name: String
    let type: RecordType

    /// A query for this (RFC 1035 section 4.1) that wants recursion.
    ///
    /// An extended one says how long an answer may be (EDNS, RFC 6891), which a few old servers do not understand.
    func query(id: UInt16, extended: Bool) -> ByteBuffer {
        var query = ByteBuffer()
        query.writeMultipleIntegers(id, UInt16(0x0100), UInt16(1), UInt16(0), UInt16(0), UInt16(extended ? 1 : 0))
        for label in name.utf8.split(separator: UInt8(ascii: ".")) {
            query.writeInteger(UInt8(truncatingIfNeeded: label.count))
            query.writeBytes(label)
        }
        query.writeMultipleIntegers(UInt8(0), type.rawValue, DNSAnswer.internet)
        if extended {
            query.writeMultipleIntegers(UInt8(0), DNSAnswer.optionsType, DNSAnswer.longestDatagram)
            query.writeMultipleIntegers(UInt32(0), UInt16(0))
        }
        return query
    }
}

/// What a name server answered to one question.
enum DNSAnswer: Sendable, Equatable {
    /// These addresses; none when the name has only records of other types.
    case addresses([IPAddress])
    case nameNotFound
    /// The server cannot or does not want to answer.
    case failed
    /// The server does not understand the query; perhaps without EDNS.
    case notUnderstood
    /// The answer did not fit: it has to be asked for over TCP.
    case truncated

    static let internet: UInt16 = 1
    static let optionsType: UInt16 = 41
    /// What goes through all networks in one piece (DNS flag day 2020).
    static let longestDatagram: UInt16 = 1_232
    private static let aliasType: UInt16 = 5
    private static let mostRecords = 256
    private static let mostAddresses = 64
    private static let mostAliases = 16

    /// Reads a message.
    ///
    /// `nil` when it is not the answer to this question, whether by mistake or by somebody who guesses, or no message at all.
    init?(_ message: ByteBuffer, to question: DNSQuestion, id: UInt16) {
        var reader = DNSReader(message)
        guard reader.integer() == id, let flags = reader.integer(), flags & 0xF800 == 0x8000,
            reader.integer() == 1, let recordCount = reader.integer(), reader.skip(4),
            reader.name() == question.name, reader.integer() == question.type.rawValue,
            reader.integer() == Self.internet
        else { return nil }
        switch flags & 0x000F {
        case 0: break
        case 3:
            self = .nameNotFound
            return
        case 1, 4:
            self = .notUnderstood
            return
        default:
            self = .failed
            return
        }
        guard flags & 0x0200 == 0 else {
            self = .truncated
            return
        }
        var aliases: [String: String] = [:]
        var found: [String: [IPAddress]] = [:]
        for _ in 0..<min(Int(recordCount), Self.mostRecords) {
            guard let record = reader.record() else { return nil }
            guard record.group == Self.internet else { continue }
            switch record.type {
            case Self.aliasType:
                var data = record.data
                guard let target = data.name() else { return nil }
                aliases[record.owner] = target
            case question.type.rawValue:
                guard let address = record.address(of: question.type) else { return nil }
                found[record.owner, default: []].append(address)
            default:
                break
            }
        }
        var name = question.name
        for _ in 0..<Self.mostAliases {
            guard let alias = aliases[name] else { break }
            name = alias
        }
        self = .addresses(Array((found[name] ?? []).prefix(Self.mostAddresses)))
    }
}

/// Reads a message from its beginning to its end, of which nothing is believed.
struct DNSReader {
    /// A resource record (RFC 1035 section 3.2.1).
    struct Record {
        let owner: String
        let type: UInt16
        let group: UInt16
        let data: DNSReader

        func address(of type: DNSQuestion.RecordType) -> IPAddress? {
            var data = data
            switch type {
            case .a: return data.integer(as: UInt32.self).map { .v4($0) }
            case .aaaa:
                guard let high = data.integer(as: UInt64.self), let low = data.integer(as: UInt64.self) else {
                    return nil
                }
                return .v6(UInt128(high) << 64 | UInt128(low))
            }
        }
    }

    private static let longestName = 255

    private let message: ByteBuffer
    private var position: Int
    private let end: Int

    init(_ message: ByteBuffer) {
        self.message = message
        position = message.readerIndex
        end = message.writerIndex
    }

    private init(_ message: ByteBuffer, from position: Int, to end: Int) {
        self.message = message
        self.position = position
        self.end = end
    }

    mutating func integer() -> UInt16? { integer(as: UInt16.self) }

    mutating func integer<Value: FixedWidthInteger>(as type: Value.Type) -> Value? {
        guard position + MemoryLayout<Value>.size <= end,
            let value: Value = message.getInteger(at: position)
        else { return nil }
        position += MemoryLayout<Value>.size
        return value
    }

    mutating func skip(_ count: Int) -> Bool {
        guard position + count <= end else { return false }
        position += count
        return true
    }

    /// A name in small letters, with its labels put together again where it is compressed (RFC 1035 section 4.1.4).
    ///
    /// `nil` when it is none, or one with bytes in its labels that no host name has.
    mutating func name() -> String? {
        var text: [UInt8] = []
        var offset = position
        /// Each jump has to lead further back, so that they come to an end.
        var nearest = position
        var hasJumped = false
        while true {
            guard offset < (hasJumped ? message.writerIndex : end), let length: UInt8 = message.getInteger(at: offset)
            else {
                return nil
            }
            switch length {
            case 0:
                if !hasJumped { position = offset + 1 }
                return String(decoding: text, as: UTF8.self)
            case 1..<64:
                guard let label = message.getBytes(at: offset + 1, length: Int(length)),
                    label.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ".") }),
                    text.count + label.count < Self.longestName
                else { return nil }
                if !text.isEmpty { text.append(UInt8(ascii: ".")) }
                text.append(contentsOf: label.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
                offset += 1 + Int(length)
            case 192...:
                guard let pointer: UInt16 = message.getInteger(at: offset) else { return nil }
                if !hasJumped { position = offset + 2 }
                hasJumped = true
                offset = message.readerIndex + Int(pointer & 0x3FFF)
                guard offset < nearest else { return nil }
                nearest = offset
            default:
                return nil
            }
        }
    }

    mutating func record() -> Record? {
        guard let owner = name(), let type = integer(), let group = integer(), skip(4), let length = integer() else {
            return nil
        }
        let start = position
        guard skip(Int(length)) else { return nil }
        return Record(owner: owner, type: type, group: group, data: DNSReader(message, from: start, to: position))
    }
}
