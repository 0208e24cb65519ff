/// Finds places for things that may not come too near to each other.
enum Spacing {
    /// Moves places as little as possible, so that each is a given distance after the one before.
    ///
    /// A place that comes too near to its neighbour joins it in a cluster that is centred on the
    /// wishes of its members, which may push it against the next cluster, and so on.
    ///
    /// - Parameters:
    ///   - wishes: Where things want to be, in rising order.
    ///   - distance: How far apart they have to be.
    ///   - range: Where they have to be, if it is long enough.
    /// - Returns: Where they are to be, in the same order.
    static func spread(
        _ wishes: [Double],
        apart distance: Double,
        within range: ClosedRange<Double>
    ) -> [Double] {
        var clusters: [Cluster] = []
        for wish in wishes {
            var cluster = Cluster(wishes: [wish])
            while let before = clusters.last,
                before.last(apart: distance) + distance > cluster.first(apart: distance)
            {
                clusters.removeLast()
                cluster = Cluster(wishes: before.wishes + cluster.wishes)
            }
            clusters.append(cluster)
        }
        let places = clusters.flatMap { cluster in
            cluster.wishes.indices.map {
                cluster.first(apart: distance) + Double($0) * distance
            }
        }
        return moved(places, into: range, apart: distance)
    }

    private struct Cluster {
        let wishes: [Double]

        func first(apart distance: Double) -> Double {
            let middle = wishes.reduce(0, +) / Double(wishes.count)
            return middle - Double(wishes.count - 1) * distance / 2
        }

        func last(apart distance: Double) -> Double {
            first(apart: distance) + Double(wishes.count - 1) * distance
        }
    }

    private static func moved(
        _ places: [Double],
        into range: ClosedRange<Double>,
        apart distance: Double
    ) -> [Double] {
        var moved = places
        var limit = range.upperBound
        for index in moved.indices.reversed() {
            moved[index] = min(moved[index], limit)
            limit = moved[index] - distance
        }
        limit = range.lowerBound
        for index in moved.indices {
            moved[index] = max(moved[index], limit)
            limit = moved[index] + distance
        }
        return moved
    }
}
