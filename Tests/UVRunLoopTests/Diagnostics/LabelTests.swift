import Glibc
import Testing
import UVRunLoop

@Suite(.timeLimit(.minutes(15))) struct LabelTests {
    @Test func itemsHaveNoLabelAtFirst() throws {
        #expect(UVRunLoop.Timer(after: .seconds(1)) { _ in }.label == nil)
        #expect(UVRunLoop.Source { _ in }.label == nil)
        #expect(UVRunLoop.Observer(activities: .all) { _, _ in }.label == nil)
        #expect(UVRunLoop.Port { _, _ in }.label == nil)
    }

    @Test func everyItemKeepsItsLabel() throws {
        let timer = UVRunLoop.Timer(after: .seconds(1)) { _ in }
        let source = UVRunLoop.Source { _ in }
        let observer = UVRunLoop.Observer(activities: .all) { _, _ in }
        let port = UVRunLoop.Port { _, _ in }
        let typed = UVRunLoop.TypedPort<Int> { _, _ in }
        let signal = try UVRunLoop.SignalSource(SIGUSR2) { _, _ in }
        timer.label = "poll"
        source.label = "work"
        observer.label = "watch"
        port.label = "requests"
        typed.label = "numbers"
        signal.label = "rotate"
        #expect(timer.label == "poll")
        #expect(source.label == "work")
        #expect(observer.label == "watch")
        #expect(port.label == "requests")
        #expect(typed.label == "numbers")
        #expect(signal.label == "rotate")
        signal.invalidate()
    }

    @Test func aLabelCanBeChangedAndRemoved() {
        let timer = UVRunLoop.Timer(after: .seconds(1)) { _ in }
        timer.label = "one"
        timer.label = "two"
        #expect(timer.label == "two")
        timer.label = nil
        #expect(timer.label == nil)
    }

    @Test func anotherThreadCanLabelAnItem() {
        let timer = UVRunLoop.Timer(after: .seconds(1), sendableHandler: { _ in })
        onAnotherThread { timer.label = "from elsewhere" }
        #expect(timer.label == "from elsewhere")
    }

    @Test func aThreadsLoopHasTheNameOfTheThread() throws {
        let thread = try UVRunLoop.Thread(name: "worker")
        #expect(thread.runLoop.label == "worker")
        #expect(thread.label == "worker")
        thread.label = "cruncher"
        #expect(thread.runLoop.label == "cruncher")
        thread.label = nil
        #expect(thread.runLoop.label == "worker")
        thread.stop()
        thread.join()
    }

    @Test func aThreadWithoutANameHasALoopWithoutALabel() throws {
        let thread = try UVRunLoop.Thread()
        #expect(thread.runLoop.label == nil)
        thread.stop()
        thread.join()
    }
}
