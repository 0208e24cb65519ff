/// Maps the process-wide numbers of modes to indices in one loop, in the order of first use.
///
/// Indexing by the process-wide numbers would cost memory for modes that only other loops use.
struct ModeNumbers {
    /// Indices of modes with small numbers, which most programs use.
    ///
    /// An array: with the dictionary alone, a timer's way into a mode takes 149 instructions more.
    private var near: [Int32] = []
    private var far: [Int: Int32] = [:]
    private(set) var count = 0

    private static let nearCount = 64
    private static let unknown: Int32 = -1

    /// Returns the loop's index for a mode, if the loop knows the mode.
    @inline(__always)
    func index(of number: Int) -> Int? {
        guard number < Self.nearCount else { return far[number].map(Int.init) }
        guard number < near.count, near[number] != Self.unknown else { return nil }
        return Int(near[number])
    }

    /// Gives the next index to a mode that the loop does not know.
    mutating func insert(_ number: Int) -> Int {
        let index = count
        count += 1
        guard number < Self.nearCount else {
            far[number] = Int32(index)
            return index
        }
        while near.count <= number { near.append(Self.unknown) }
        near[number] = Int32(index)
        return index
    }
}
