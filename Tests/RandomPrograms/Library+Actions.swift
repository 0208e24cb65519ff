import TestSupport
import UVRunLoop

extension Library {
    func carryOut(_ action: Action) {
        switch action {
        case .run(let mode, let limit, let returnsAfterSource):
            run(mode, limit, returnsAfterSource)
        case .contains, .isValid, .isSignalled, .date, .nextDate, .modes:
            performance.note(.found(action, answer(action)))
        case .send(let item, let message):
            performance.note(.sent(item, send(item, message)))
        case .performLocally(let item, let modes):
            let callee = Callee(self, item)
            loop.performLocally(inModes: modes.map(\.mode)) {
                callee.callOut { .called($0, $1) }
            }
        case .pass(let time):
            clock?.advance(by: .nanoseconds(time))
        case .fire(let item):
            if case .timer(let timer) = members[item] { timer.fire() }
        default: carryOutFromAnyThread(action)
        }
        flush()
    }

    /// Carries out an action that a visit may contain.
    func carryOutFromAnyThread(_ action: Action) {
        switch action {
        case .add(let item, let mode): add(item, mode.mode)
        case .remove(let item, let mode): remove(item, mode.mode)
        case .invalidate(let item): invalidate(item)
        case .wakeUp: loop.wakeUp()
        case .stop: loop.stop()
        case .perform(let item, let modes):
            loop.perform(inModes: modes.map(\.mode)) { [unowned self] in
                callOut(item, .called(item, place))
            }
        case .addCommonMode(let mode): loop.addCommonMode(mode.mode)
        case .send(let item, let message): _ = send(item, message)
        default: carryOut(action, on: memberOf(action))
        }
    }

    private func memberOf(_ action: Action) -> Member? {
        switch action {
        case .signal(let item), .setDate(let item, _), .setTolerance(let item, _),
            .write(let item), .drain(let item), .closePeer(let item):
            members[item]
        default: nil
        }
    }

    private func carryOut(_ action: Action, on member: Member?) {
        switch (action, member) {
        case (.signal, .source(let source)): source.signal()
        case (.setDate(_, let delay), .timer(let timer)):
            timer.nextFireDate = present.advanced(by: .nanoseconds(delay))
        case (.setTolerance(_, let tolerance), .timer(let timer)):
            timer.tolerance = .nanoseconds(tolerance)
        case (.write, .descriptor(_, let pipe)): if pipe.isWriteEndOpen { pipe.write("x") }
        case (.drain, .descriptor(_, let pipe)):
            while let text = pipe.read(), !text.isEmpty {}
        case (.closePeer, .descriptor(let source, let pipe)):
            if source.events == .readable { pipe.closeWriteEnd() } else { pipe.closeReadEnd() }
        default: break
        }
    }

    private func run(_ mode: ModeName, _ limit: Int64?, _ returnsAfterSource: Bool) {
        guard !isOver, loop.nestingLevel < Program.deepest else { return }
        let result = loop.run(
            mode: mode.mode,
            for: limit.map { .nanoseconds($0) },
            returnAfterSourceHandled: returnsAfterSource
        )
        performance.note(.returned(result.rawValue, place))
    }

    private func add(_ item: Int, _ mode: UVRunLoop.Mode) {
        switch members[item] {
        case .source(let source): loop.add(source, forMode: mode)
        case .observer(let observer): loop.add(observer, forMode: mode)
        case .timer(let timer): loop.add(timer, forMode: mode)
        case .descriptor(let source, _): loop.add(source, forMode: mode)
        case .port(let port): loop.add(port, forMode: mode)
        case .block, .gone: break
        }
    }

    private func remove(_ item: Int, _ mode: UVRunLoop.Mode) {
        switch members[item] {
        case .source(let source): loop.remove(source, forMode: mode)
        case .observer(let observer):
            loop.remove(observer, forMode: mode)
            if isUnused(observer, item) { members[item] = makeMember(item) }
        case .timer(let timer): loop.remove(timer, forMode: mode)
        case .descriptor(let source, _): loop.remove(source, forMode: mode)
        case .port(let port): loop.remove(port, forMode: mode)
        case .block, .gone: break
        }
    }

    /// Whether another observer can take an observer's place; then a run that knows it has its last
    /// reference.
    private func isUnused(_ observer: UVRunLoop.Observer, _ item: Int) -> Bool {
        guard loop.isOnOwnThread, observer.isValid, !itemsOnStack.contains(item) else {
            return false
        }
        return ModeName.allCases.allSatisfy { !loop.contains(observer, forMode: $0.mode) }
    }

    private func invalidate(_ item: Int) {
        switch members[item] {
        case .source(let source): source.invalidate()
        case .observer(let observer): observer.invalidate()
        case .timer(let timer): timer.invalidate()
        case .descriptor(let source, _): source.invalidate()
        case .port(let port): port.invalidate()
        case .block, .gone: return
        }
        // The loop may have the last reference now, wherever it goes on with the item.
        if loop.isOnOwnThread { members[item] = .gone }
    }

    private func send(_ item: Int, _ message: Int32) -> Bool {
        guard case .port(let port) = members[item] else { return false }
        return port.send(UVRunLoop.PortMessage(id: message), limit: .zero)
    }

    private func answer(_ action: Action) -> String {
        switch action {
        case .contains(let item, let mode): "\(contains(item, mode.mode))"
        case .isValid(let item): "\(isValid(item))"
        case .isSignalled(let item):
            if case .source(let source) = members[item] { "\(source.isSignalled)" } else { "false" }
        case .date(let item):
            if case .timer(let timer) = members[item], timer.isValid {
                "\(nanoseconds(timer.nextFireDate))"
            } else {
                "-"
            }
        case .nextDate(let mode):
            loop.nextFireDate(forMode: mode.mode).map { "\(nanoseconds($0))" } ?? "none"
        case .modes:
            loop.modes.compactMap(ModeName.init).sorted { $0.rawValue < $1.rawValue }
                .map { "\($0)" }.joined(separator: " ")
        default: ""
        }
    }

    private func contains(_ item: Int, _ mode: UVRunLoop.Mode) -> Bool {
        switch members[item] {
        case .source(let source): loop.contains(source, forMode: mode)
        case .observer(let observer): loop.contains(observer, forMode: mode)
        case .timer(let timer): loop.contains(timer, forMode: mode)
        case .descriptor(let source, _): loop.contains(source, forMode: mode)
        case .port(let port): loop.contains(port, forMode: mode)
        case .block, .gone: false
        }
    }

    private func isValid(_ item: Int) -> Bool {
        switch members[item] {
        case .source(let source): source.isValid
        case .observer(let observer): observer.isValid
        case .timer(let timer): timer.isValid
        case .descriptor(let source, _): source.isValid
        case .port(let port): port.isValid
        case .block: true
        case .gone: false
        }
    }
}
