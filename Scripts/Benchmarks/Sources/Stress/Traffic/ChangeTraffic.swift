import UVRunLoop

/// Items that one thread adds to other threads' loops, and removes, at any time.
final class ChangeTraffic: Traffic {
    private let worker: Worker
    private var movedItems: [MovedItem] = []

    init(_ worker: Worker) { self.worker = worker }

    func connect() {
        movedItems = (0..<8).map {
            makeMovedItem(MovedItem.Kind.allCases[$0 % MovedItem.Kind.allCases.count])
        }
    }

    private func makeMovedItem(_ kind: MovedItem.Kind) -> MovedItem {
        MovedItem(kind, worker.tally, worker.settings.fault)
    }

    func act(_ generator: inout Generator) {
        let index = generator.below(movedItems.count)
        let movedItem = movedItems[index]
        switch generator.below(8) {
        case 0...3: movedItem.putSomewhere(worker.partners, &generator)
        case 4...5: movedItem.takeOutOfOneMode(&generator)
        case 6: movedItem.rouse()
        default:
            movedItem.end()
            movedItems[index] = makeMovedItem(movedItem.kind)
        }
    }

    func finishSending() {
        for movedItem in movedItems { movedItem.end() }
        movedItems = []
    }
}
