/// Writes a program down as Swift, as a test that can be pasted into a suite.
package enum SwiftText {
    /// A test that fails as long as the library does not do what the contract says.
    package static func test(of program: Program, named name: String = "shrunkProgram") -> String {
        """
        @Test(arguments: Stage.allCases)
        func \(name)(stage: Stage) {
            let program = \(text(of: program, indented: "    "))
            #expect(program.disagreement(on: stage)?.description == nil)
        }
        """
    }

    static func text(of program: Program, indented indentation: String) -> String {
        func list(_ name: String, _ elements: [String]) -> String {
            guard !elements.isEmpty else { return "\(indentation)    \(name): []" }
            let lines = elements.map { "\(indentation)        \($0)," }
            return (["\(indentation)    \(name): ["] + lines + ["\(indentation)    ]"])
                .joined(separator: "\n")
        }
        let parts = [
            list("items", program.items.map(text)),
            list("actions", program.actions.map(text)),
            list("visits", program.visits.map { "Visit(at: \($0.date), \(text(of: $0.actions)))" }),
        ]
        let used = program.visits.isEmpty ? parts.dropLast() : parts[...]
        return "Program(\n\(used.joined(separator: ",\n"))\n\(indentation))"
    }

    private static func text(of actions: [Action]) -> String {
        "[\(actions.map(text).joined(separator: ", "))]"
    }

    private static func text(_ item: Item) -> String {
        let calls = item.calls.map { text(of: $0) }.joined(separator: ", ")
        return calls.isEmpty ? "Item(\(text(item.kind)))" : "Item(\(text(item.kind)), [\(calls)])"
    }

    private static func text(_ kind: Item.Kind) -> String {
        switch kind {
        case .source(let order): ".source(order: \(order))"
        case .observer(let activities, let repeats, let order):
            ".observer(\(activities), repeats: \(repeats), order: \(order))"
        case .timer(let date, let interval, let tolerance):
            ".timer(at: \(date), interval: \(text(interval)), tolerance: \(tolerance))"
        case .reader(let order): ".reader(order: \(order))"
        case .writer(let order): ".writer(order: \(order))"
        case .port(let capacity, let order): ".port(capacity: \(capacity), order: \(order))"
        case .block: ".block"
        }
    }

    private static func text(_ number: Int64?) -> String { number.map { "\($0)" } ?? "nil" }

    private static func text(_ modes: [ModeName]) -> String {
        "[\(modes.map { ".\($0)" }.joined(separator: ", "))]"
    }

    private static func text(_ action: Action) -> String {
        switch action {
        case .add(let item, let mode): ".add(\(item), .\(mode))"
        case .remove(let item, let mode): ".remove(\(item), .\(mode))"
        case .contains(let item, let mode): ".contains(\(item), .\(mode))"
        case .perform(let item, let modes): ".perform(\(item), \(text(modes)))"
        case .performLocally(let item, let modes): ".performLocally(\(item), \(text(modes)))"
        case .setDate(let item, let delay): ".setDate(\(item), after: \(delay))"
        case .setTolerance(let item, let tolerance): ".setTolerance(\(item), \(tolerance))"
        case .send(let item, let message): ".send(\(item), \(message))"
        case .run(let mode, let limit, let returns):
            ".run(.\(mode), limit: \(text(limit)), returnsAfterSource: \(returns))"
        case .addCommonMode(let mode): ".addCommonMode(.\(mode))"
        case .nextDate(let mode): ".nextDate(.\(mode))"
        // An action without an argument, or with a number alone, is written as it is.
        default: ".\(action)"
        }
    }
}
