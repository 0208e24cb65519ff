import CUV
import CUVSupport
import Glibc
import Testing

@testable import UVRunLoop

/// The descriptor behind a loop's `uv_async` with the installed libuv.
@Suite(.timeLimit(.minutes(15))) struct WakeDescriptorTests {
    private static let isSpinningVersion = uv_version() < 1 << 16 | 45 << 8

    @Test func itIsWrittenToWhereLibuvWouldSpin() {
        withLibuvLoop { loop in
            let descriptor = unsafe WakeDescriptor.find(of: loop)
            #expect((descriptor != nil) == Self.isSpinningVersion)
        }
    }

    @Test func whatItIsTakenForIsFoundOutWithoutATrace() {
        withLibuvLoop { loop in
            guard let descriptor = unsafe WakeDescriptor.find(of: loop) else { return }
            #expect(cuv_condition(descriptor) & CInt(cuv_poll_in) == 0)
            #expect(unsafe cuv_has_ready_descriptor(loop) == 0)
        }
    }

    @Test func aWriteEndsASleepOnceAndIsTakenByLibuv() {
        withLibuvLoop { loop in
            guard let descriptor = unsafe WakeDescriptor.find(of: loop) else { return }
            for _ in 1...3 { #expect(cuv_event_signal(descriptor) == 0) }
            #expect(unsafe cuv_has_ready_descriptor(loop) == 1)
            // It would wait for ever.
            _ = unsafe uv_run(loop, UV_RUN_ONCE)
            #expect(unsafe cuv_has_ready_descriptor(loop) == 0)
        }
    }

    @Test func aDescriptorThatCanTakeNoMoreIsAWakeUpAllTheSame() {
        let descriptor = cuv_event_create()
        defer { close(descriptor) }
        var most = UInt64.max - 1
        #expect(unsafe write(descriptor, &most, 8) == 8)
        #expect(cuv_event_signal(descriptor) == 0)
    }

    @Test func aDescriptorThatIsClosedIsRefused() {
        #expect(cuv_event_signal(-1) == -EBADF)
    }

    /// A loop of libuv's with an async handle, as a driver has it before it is used.
    private func withLibuvLoop(_ body: (UnsafeMutablePointer<uv_loop_t>) -> Void) {
        let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
        let async = UnsafeMutablePointer<uv_async_t>.allocate(capacity: 1)
        defer {
            unsafe async.deallocate()
            unsafe loop.deallocate()
        }
        #expect(unsafe cuv_loop_init(loop) == 0)
        #expect(unsafe uv_async_init(loop, async) { _ in } == 0)
        #expect(unsafe cuv_loop_register(loop) == 0)
        unsafe body(loop)
        unsafe uv_close(UnsafeMutableRawPointer(async).assumingMemoryBound(to: uv_handle_t.self)) {
            _ in
        }
        _ = unsafe uv_run(loop, UV_RUN_DEFAULT)
        #expect(unsafe uv_loop_close(loop) == 0)
    }
}
