import Glibc
import Injection
import UVRunLoop

extension Operation {
    static let processes = [
        Operation("signal") { scene in
            let loop = try UVRunLoop.prepareCurrent()
            var count = 0
            let source = try UVRunLoop.SignalSource(SIGUSR1) { _, number in
                count += number
                loop.stop()
            }
            defer { source.invalidate() }
            loop.add(source, forMode: .default)
            work_raise(SIGUSR1)
            scene.run(loop)
            if count == 0, !source.isValid { throw Reported(what: "the source became invalid") }
            try scene.expect(count == 1, "a signal: \(count) of 1")
            source.invalidate()
            try scene.expect(work_has_default(SIGUSR1), "the signal's disposition")
        },
        Operation("child") { scene in
            let loop = try UVRunLoop.prepareCurrent()
            let process = work_start_process(7, 500)
            var status: UVRunLoop.ChildSource.ExitStatus?
            do {
                let source = try UVRunLoop.ChildSource(process) { _, end in
                    status = end
                    loop.stop()
                }
                loop.add(source, forMode: .default)
                scene.run(loop)
                let isRefused = status == nil && !source.isValid
                source.invalidate()
                if status == nil || status == .unknown { work_reap(process) }
                if isRefused { throw Reported(what: "the source became invalid") }
            } catch let error as RunLoopError {
                work_reap(process)
                throw error
            }
            if status == .unknown { throw Reported(what: "the status is unknown") }
            try scene.expect(status != nil, "the end of a child")
            try scene.require(status == .exited(code: 7), "a child's status is \(status as Any)")
        },
    ]
}
