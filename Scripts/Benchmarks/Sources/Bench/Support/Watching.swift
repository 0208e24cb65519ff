import BenchSupport
import Dispatch
import Glibc
import NIOCore
import NIOPosix
import UVRunLoop

/// Watches a descriptor with this library; the source is not in a loop yet.
func ourWatch(
    _ descriptor: CInt,
    _ handler: @escaping (CInt) -> Void
) -> UVRunLoop.DescriptorSource {
    do {
        return try UVRunLoop.DescriptorSource(descriptor, events: .readable) { source, _ in
            handler(source.descriptor)
        }
    } catch {
        fail("a descriptor cannot be watched: \(error)")
    }
}

/// Watches a copy of a descriptor with SwiftNIO, which reads it and closes it.
func nioWatch(_ descriptor: CInt, _ handler: @escaping @Sendable () -> Void) -> any Channel {
    let future = NIOPipeBootstrap(group: NIO.group)
        .channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(ReadHandler(handler))
            }
        }
        .takingOwnershipOfDescriptor(input: dup(descriptor))
    return NIO.wait(for: future)
}

/// Closes channels of SwiftNIO's, and waits until they are.
func close(_ channels: [any Channel]) {
    for future in channels.map({ $0.close() }) { NIO.wait(for: future) }
}

/// Tells that something was read.
private final class ReadHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let handler: @Sendable () -> Void

    init(_ handler: @escaping @Sendable () -> Void) { self.handler = handler }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { handler() }
}

/// Watches a descriptor with Dispatch.
func dispatchWatch(
    _ descriptor: CInt,
    on queue: DispatchQueue,
    _ handler: @escaping @Sendable () -> Void
) -> any DispatchSourceRead {
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler(handler: handler)
    source.activate()
    return source
}

/// Cancels sources of Dispatch's; what they watch stays open until they are.
func cancel(_ sources: [any DispatchSourceRead], keeping descriptors: Any) {
    let group = DispatchGroup()
    for source in sources {
        group.enter()
        source.setCancelHandler { group.leave() }
        source.cancel()
    }
    group.wait()
    withExtendedLifetime(descriptors) {}
}
