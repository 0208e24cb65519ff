extension [Double] {
    /// The one in the middle, or the mean of the two in the middle.
    package var median: Double {
        let sorted = sorted()
        let middle = count / 2
        return count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
