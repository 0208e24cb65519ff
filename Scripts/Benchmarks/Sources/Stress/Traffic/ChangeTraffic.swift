import UVRunLoop

/// Items that one thread adds to other threads' loops, and removes, at any time.
final class ChangeTraffic: Traffic {
    private let worker: Worker
    private var toys: [Toy] = []

    init(_ worker: Worker) { self.worker = worker }

    func connect() {
        toys = (0..<8).map { makeToy(Toy.Kind.allCases[$0 % Toy.Kind.allCases.count]) }
    }

    private func makeToy(_ kind: Toy.Kind) -> Toy { Toy(kind, worker.tally, worker.settings.fault) }

    func act(_ generator: inout Generator) {
        let index = generator.below(toys.count)
        let toy = toys[index]
        switch generator.below(8) {
        case 0...3: toy.putSomewhere(worker.partners, &generator)
        case 4...5: toy.takeOutOfOneMode(&generator)
        case 6: toy.rouse()
        default:
            toy.end()
            toys[index] = makeToy(toy.kind)
        }
    }

    func finishSending() {
        for toy in toys { toy.end() }
        toys = []
    }
}
