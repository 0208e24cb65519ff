/// Elements that leave in the order in which they came.
struct FirstInFirstOut<Element> {
    private var elements: [Element?] = []
    private var next = 0
    /// How many were taken and are no longer in the array.
    private var removedCount = 0

    var isEmpty: Bool { next == elements.count }

    /// The number of the last element, counted from the first of all.
    var end: Int { removedCount + elements.count }

    var first: Element? { isEmpty ? nil : elements[next] }

    mutating func append(_ element: Element) { elements.append(element) }

    /// Takes the first element, if its number is below an end.
    mutating func takeFirst(before end: Int = .max) -> Element? {
        guard !isEmpty, removedCount + next < end else { return nil }
        let element = elements[next].take()
        next += 1
        // There may always be some that wait, so the array is shortened before it is empty, too.
        if isEmpty || (next >= 64 && next * 2 >= elements.count) {
            removedCount += next
            elements.removeFirst(next)
            next = 0
        }
        return element
    }
}
