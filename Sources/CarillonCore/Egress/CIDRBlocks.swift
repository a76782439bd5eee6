/// Blocks of addresses, however many: to find whether an address is in any takes one look-up for each of their lengths.
struct CIDRBlocks: Sendable {
    private var blocks: Set<CIDRBlock> = []
    private var lengths: Set<Int> = []

    /// Adds a block.
    mutating func insert(_ block: CIDRBlock) {
        blocks.insert(block)
        lengths.insert(block.prefixLength)
    }

    /// Whether an address is in one of the blocks.
    func contains(_ address: IPAddress) -> Bool {
        lengths.contains { blocks.contains(address.block(ofLength: $0)) }
    }
}
