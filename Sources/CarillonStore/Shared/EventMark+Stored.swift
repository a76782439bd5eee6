import CarillonCore
import Foundation
import Postgres

extension EventMark: PostgresDecodable {
    /// Reads a `uuid`.
    init(postgres field: borrowing PostgresField) throws(PostgresError) {
        self.init(try UUID(postgres: field))
    }

    /// The mark of a position in a block that sequence `marks` gave out.
    init(block: Int64, position: Int) {
        let low = UInt64(bitPattern: block + Int64(position))
        var bytes: uuid_t = (255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes) { $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self) }
        self.init(UUID(uuid: bytes))
    }
}
