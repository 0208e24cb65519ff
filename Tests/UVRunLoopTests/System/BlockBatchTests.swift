import Testing

@testable import UVRunLoop

@Suite(.timeLimit(.minutes(15))) struct BlockBatchTests {
    /// Batches are used again, and one burst of blocks is no reason to keep its memory.
    @Test(arguments: [1_000, 100_000])
    func aBatchKeepsItsMemoryUpToALimit(count: Int) {
        var batch = BlockBatch()
        for _ in 0..<count { batch.append(BlockItem {}.content) }
        #expect(batch.count == count)
        batch.removeAll()
        #expect(batch.capacity == (count == 1_000 ? 1_024 : 0))
        batch.append(BlockItem {}.content)
        #expect(batch.count == 1)
    }
}
