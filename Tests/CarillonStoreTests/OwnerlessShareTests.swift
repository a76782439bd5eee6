import Testing

@testable import CarillonStore

@Suite struct OwnerlessShareTests {
    private func share(_ limit: Int, _ first: UInt8, _ second: UInt8) -> OwnerlessShare {
        OwnerlessShare(of: limit, around: [first, second] + [UInt8](repeating: 7, count: 30))
    }

    @Test(arguments: [0, 1, 8_192])
    func `of few all are counted`(limit: Int) {
        for byte in [0, 0x7F, 0xFF] as [UInt8] {
            let share = share(limit, byte, byte)
            #expect(share.first == [0, 0] && share.end == [UInt8](repeating: 0xFF, count: 33) && share.limit == limit)
        }
    }

    @Test func `of many a share is counted, which holds the hash that is asked about`() {
        // 128 shares, each of two values of the first byte.
        let share = share(1_000_000, 0x12, 0xFF)
        #expect(share.first == [0x12, 0] && share.end == [0x14, 0] && share.limit == 7_813)
        let last = self.share(1_000_000, 0xFF, 0xFF)
        #expect(last.first == [0xFE, 0] && last.end.count == 33)
    }

    @Test(arguments: [8_193, 100_000, 1_000_000, 100_000_000])
    func `no count looks at more than a bounded number`(limit: Int) {
        #expect(share(limit, 1, 2).limit <= OwnerlessShare.largest)
        #expect(share(limit, 1, 2).limit > OwnerlessShare.largest / 2)
    }
}
