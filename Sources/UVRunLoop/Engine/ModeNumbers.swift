/// Gives the modes that a loop knows small numbers of its own, in the order in which it heard of
/// them.
///
/// The modes' own numbers are the process's: a loop that indexed by them would pay for modes that
/// only others use.
struct ModeNumbers {
    /// By the process's number, for the modes that nearly everybody uses.
    private var near: [Int32] = []
    private var far: [Int: Int32] = [:]
    private(set) var count = 0

    private static let nearCount = 64
    private static let unknown: Int32 = -1

    /// The loop's number for a mode of the process's number, if the loop knows the mode.
    @inline(__always)
    func index(of number: Int) -> Int? {
        guard number < Self.nearCount else { return far[number].map(Int.init) }
        guard number < near.count, near[number] != Self.unknown else { return nil }
        return Int(near[number])
    }

    /// Gives a mode that the loop does not know the next number.
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
