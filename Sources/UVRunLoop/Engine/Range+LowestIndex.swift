extension Range<Int> {
    /// Finds the lowest index from which on a condition holds, by bisection.
    ///
    /// - Parameter holds: Whether it holds for an index; if it does, it holds for all later ones.
    /// - Returns: The index; the upper bound if there is none.
    package func lowestIndex(where holds: (Int) -> Bool) -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = low + (high - low) / 2
            if holds(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
