/// The modes that a loop knows, by a small index.
struct ModeTable<Items: ItemTypes>: ~Copyable {
    private var contents = OwnedArray<ModeContents<Items>>()
    private var numbers = ModeNumbers()
    private(set) var common: [Int] = []

    init() {
        insertCommon(.default)
    }

    subscript(index: Int) -> ModeContents<Items> {
        @inline(__always)
        unsafeAddress { unsafe UnsafePointer(contents.address(of: index)) }
        @inline(__always)
        unsafeMutableAddress { unsafe contents.address(of: index) }
    }

    /// The index of a mode; `nil` if the loop does not know it.
    @inline(__always)
    func index(of mode: UVRunLoop.Mode) -> Int? { numbers.index(of: mode.number) }

    /// The index of a mode, which is added if the loop does not know it.
    @inline(__always)
    mutating func makeIndex(of mode: UVRunLoop.Mode) -> Int { index(of: mode) ?? insert(mode) }

    @inline(never)
    private mutating func insert(_ mode: UVRunLoop.Mode) -> Int {
        contents.append(ModeContents<Items>(mode: mode))
        return numbers.insert(mode.number)
    }

    /// Makes a mode common; returns its index, or `nil` if it was common already.
    @discardableResult
    mutating func insertCommon(_ mode: UVRunLoop.Mode) -> Int? {
        let index = makeIndex(of: mode)
        guard !contents[index].isCommon else { return nil }
        contents[index].isCommon = true
        common.append(index)
        return index
    }

    var count: Int { contents.count }

    /// Whether a condition holds for a mode; `true` without a check if there are many modes.
    func mayContain(_ isCase: (borrowing ModeContents<Items>) -> Bool) -> Bool {
        guard contents.count <= 16 else { return true }
        for index in contents.indices where isCase(contents[index]) { return true }
        return false
    }

    var names: [UVRunLoop.Mode] { contents.indices.map { contents[$0].mode } }

    func names(of indices: [Int]) -> [UVRunLoop.Mode] { indices.map { contents[$0].mode } }
}
