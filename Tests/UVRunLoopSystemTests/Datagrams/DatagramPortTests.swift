import TestSupport
import Testing
import UVRunLoop
import UVRunLoopPorts
import UVRunLoopSystem

private typealias DatagramPort = UVRunLoop.DatagramPort
private typealias Address = UVRunLoop.SocketAddress

/// Datagrams on the loopback interface.
@Suite(.timeLimit(.minutes(15))) struct DatagramPortTests {
    @Test(arguments: [Address.ipv4Loopback(port: 0), .ipv6Loopback(port: 0)])
    fileprivate func aDatagramArrivesWithItsSender(local: Address) throws {
        try withLoop { loop in
            let sender = try DatagramPort(boundTo: local) { _, _ in }
            let receiver = try DatagramPort(boundTo: local) { port, event in
                guard case .received(let batch) = event else { return }
                #expect(batch.map(\.bytes) == [[1, 2, 3]])
                #expect(batch[0].sender == sender.localAddress && !batch[0].isTruncated)
                port.invalidate()
            }
            loop.add(receiver, forMode: .default)
            try sender.send([1, 2, 3], to: receiver.localAddress)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(sender.queuedBytes == 0)
        }
    }

    @Test func datagramsArriveInBatchesAndInOrder() throws {
        try withLoop { loop in
            let batches = Box<[[UInt8]]>([])
            let receiver = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, event in
                guard case .received(let batch) = event else { return }
                batches.value.append(batch.map { $0.bytes[0] })
                if batches.value.joined().count == 100 { loop.stop() }
            }
            loop.add(receiver, forMode: .default)
            let sender = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, _ in }
            for number in 0..<100 as Range<UInt8> {
                try sender.send([number], to: receiver.localAddress)
            }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(Array(batches.value.joined()) == Array(0..<100))
            #expect(batches.value.count < 100)
            #expect(batches.value.allSatisfy { $0.count <= DatagramPort.batchSize })
        }
    }

    @Test func datagramsOfAnotherThreadComeBeforeLaterOnesOfTheLoopsThread() throws {
        try withLoop { loop in
            let received = Box<[UInt8]>([])
            let receiver = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, event in
                guard case .received(let batch) = event else { return }
                received.value += batch.map { $0.bytes[0] }
                if received.value.count == 3 { loop.stop() }
            }
            loop.add(receiver, forMode: .default)
            let sender = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, _ in }
            let address = receiver.localAddress
            try onAnotherThread {
                for number in 1...2 { try sender.send([UInt8(number)], to: address) }
            }
            try sender.send([3], to: address)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(received.value == [1, 2, 3])
        }
    }

    @Test func aDatagramThatCannotBeSentIsNoneOfTheOthersBusiness() throws {
        try withLoop { loop in
            let received = Box<[UInt8]>([])
            let failed = Box<[Address?]>([])
            let receiver = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, event in
                guard case .received(let batch) = event else { return }
                received.value += batch.map { $0.bytes[0] }
                if received.value.count == 11 { loop.stop() }
            }
            let sender = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, event in
                if case .sendFailed(_, let address) = event { failed.value.append(address) }
            }
            loop.add(receiver, forMode: .default)
            loop.add(sender, forMode: .default)
            for number in 0..<11 as Range<UInt8> {
                if number == 1 { try sender.send([99], to: .ipv4Loopback(port: 0)) }
                try sender.send([number], to: receiver.localAddress)
            }
            #expect(sender.queuedBytes == 0)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            for _ in 0..<10 { loop.run(mode: .default, for: .zero) }
            #expect(received.value == Array(0..<11))
            #expect(failed.value == [.ipv4Loopback(port: 0)])
        }
    }

    @Test func everyFailureToSendIsTold() throws {
        try withLoop { loop in
            let count = Box(0)
            let port = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, event in
                guard case .sendFailed(let error, _) = event else { return }
                #expect(error.code == .messageTooLong)
                count.value += 1
                if count.value == 50 { loop.stop() }
            }
            loop.add(port, forMode: .default)
            for _ in 0..<50 {
                try port.send([UInt8](repeating: 0, count: 66_000), to: .ipv4Loopback(port: 9))
            }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(port.queuedBytes == 0)
        }
    }

    @Test func aPeerThatComesAfterARefusalGetsWhatIsSentThen() throws {
        try withLoop { loop in
            let (received, refusals) = (Box<[UInt8]>([]), Box(0))
            let none = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, _ in }
            let address = try #require(none.localAddress)
            none.invalidate()
            loop.run(mode: .default, for: .zero)
            let sender = try DatagramPort(
                boundTo: .ipv4Loopback(port: 0),
                connectedTo: address
            ) { _, event in
                guard case .failed(let error) = event else { return }
                #expect(error.code == .refused)
                refusals.value += 1
            }
            loop.add(sender, forMode: .default)
            for _ in 0..<3 { try sender.send([0]) }
            let peer = try DatagramPort(boundTo: address) { _, event in
                guard case .received(let batch) = event else { return }
                received.value += batch.map { $0.bytes[0] }
                if received.value.count == 15 { loop.stop() }
            }
            loop.add(peer, forMode: .default)
            for number in 1...15 as ClosedRange<UInt8> { try sender.send([number]) }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            for _ in 0..<10 { loop.run(mode: .default, for: .zero) }
            #expect(received.value == Array(1...15))
            #expect(refusals.value == 3)
        }
    }

    @Test func anInvalidPortHasNoEventsAndNoQueue() async throws {
        try await UVRunLoop.withThread { loop in
            let port = try await loop.datagramPort(boundTo: .ipv4Loopback(port: 0))
            let address = try #require(port.localAddress)
            try port.send([1], to: address)
            try port.send([2], to: address)
            try await Task.sleep(for: .milliseconds(20))
            port.invalidate()
            for await event in port.events { Issue.record("\(event)") }
            #expect(port.queuedBytes == 0)
        }
    }

    @Test func emptyAndLongDatagramsArrive() throws {
        try withLoop { loop in
            let sizes = Box<[Int]>([])
            let receiver = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, event in
                guard case .received(let batch) = event else { return }
                sizes.value += batch.map(\.bytes.count)
                if sizes.value.count == 2 { loop.stop() }
            }
            loop.add(receiver, forMode: .default)
            let sender = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, _ in }
            try sender.send([], to: receiver.localAddress)
            try sender.send([UInt8](repeating: 7, count: 65_507), to: receiver.localAddress)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(sizes.value == [0, 65_507])
        }
    }

    @Test func aConnectedPortReceivesFromItsPeerOnly() throws {
        try withLoop { loop in
            let server = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { port, event in
                guard case .received(let batch) = event else { return }
                try? port.send([2], to: batch[0].sender)
            }
            let address = try #require(server.localAddress)
            let log = EventLog()
            let client = try DatagramPort(
                boundTo: .ipv4Loopback(port: 0),
                connectedTo: address
            ) { _, event in
                guard case .received(let batch) = event else { return }
                for datagram in batch { log.note("\(datagram.bytes)") }
                loop.stop()
            }
            let stranger = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, _ in }
            for port in [server, client, stranger] { loop.add(port, forMode: .default) }
            try stranger.send([1], to: client.localAddress)
            try client.send([0])
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == ["[2]"])
            #expect(
                code { () throws(UVRunLoop.SystemError) in try client.send([0], to: address) }
                    == .invalidArgument
            )
            #expect(
                code { () throws(UVRunLoop.SystemError) in try server.send([0]) }
                    == .invalidArgument
            )
        }
    }

    // MARK: Modes and limits

    @Test func aBurstThatNobodyTakesIsBoundedAndLetsTheLoopSleep() throws {
        try withLoop { loop in
            let count = Box(0)
            let receiver = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, event in
                if case .received(let batch) = event { count.value += batch.count }
            }
            loop.add(receiver, forMode: .modalPanel)
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            let sender = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, _ in }
            for _ in 0..<100 {
                for _ in 0..<50 { try sender.send([1], to: receiver.localAddress) }
                loop.run(mode: .default, for: .zero)
            }
            let before = threadProcessorTime()
            #expect(loop.run(mode: .default, for: .milliseconds(200)) == .timedOut)
            #expect(threadProcessorTime() - before < 50_000_000)
            while loop.run(mode: .modalPanel, for: .zero, returnAfterSourceHandled: true)
                == .handledSource
            {}
            // The datagrams that waited here and in the kernel's buffer.
            #expect(count.value >= DatagramPort.capacity * DatagramPort.batchSize)
            let taken = count.value
            try sender.send([1], to: receiver.localAddress)
            let result = loop.run(
                mode: .modalPanel,
                for: .seconds(60),
                returnAfterSourceHandled: true
            )
            #expect(result == .handledSource && count.value == taken + 1)
        }
    }

    @Test func invalidatingInTheHandlerEndsTheEvents() throws {
        try withLoop { loop in
            let count = Box(0)
            let receiver = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { port, _ in
                count.value += 1
                port.invalidate()
            }
            loop.add(receiver, forMode: .default)
            let sender = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, _ in }
            for _ in 0..<200 { try sender.send([1], to: receiver.localAddress) }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(count.value == 1)
            #expect(
                code { () throws(UVRunLoop.SystemError) in
                    try receiver.send([1], to: .ipv4Loopback(port: 9))
                } == .invalidated
            )
        }
    }

    // MARK: Failure

    @Test func aRefusedDatagramIsTold() throws {
        try withLoop { loop in
            let closed = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, _ in }
            let address = try #require(closed.localAddress)
            closed.invalidate()
            let refusal = Box<UVRunLoop.SystemError?>(nil)
            let client = try DatagramPort(
                boundTo: .ipv4Loopback(port: 0),
                connectedTo: address
            ) { port, event in
                switch event {
                case .failed(let error), .sendFailed(let error, _): refusal.value = error
                case .received: break
                }
                #expect(port.isValid)
                loop.stop()
            }
            loop.add(client, forMode: .default)
            try client.send([1])
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(refusal.value?.code == .refused)
        }
    }

    @Test func aDatagramThatIsTooLongIsTold() throws {
        try withLoop { loop in
            let failure = Box<UVRunLoop.SystemError?>(nil)
            let port = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, event in
                guard case .sendFailed(let error, let address) = event else { return }
                #expect(address == .ipv4Loopback(port: 9))
                failure.value = error
                loop.stop()
            }
            loop.add(port, forMode: .default)
            let bytes = [UInt8](repeating: 0, count: 70_000)
            try port.send(bytes, to: .ipv4Loopback(port: 9))
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(failure.value?.code == .messageTooLong)
        }
    }

    @Test func addressesThatCannotBeBoundThrow() throws {
        try withLoop { _ in
            let first = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, _ in }
            let taken = try #require(first.localAddress)
            #expect(code(of: taken) == .addressInUse)
            #expect(code(of: try Address(host: "192.0.2.1", port: 0)) == .addressNotAvailable)
            #expect(code(of: try Address(unixPath: "/tmp/socket")) == .invalidArgument)
        }
    }

    @Test func aFullTableOfDescriptorsThrows() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                withLoop { _ in
                    let table = FullTable()
                    precondition(code(of: .ipv4Loopback(port: 0)) == .noDescriptorsLeft)
                    table.leave(1)
                    precondition(code(of: .ipv4Loopback(port: 0)) == nil)
                    table.clear()
                }
            }
        }
    }

    @Test func aThreadThatEndsLeavesNothingBehind() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                onAnotherThread { _ = UVRunLoop.current }
                let before = openDescriptorCount()
                onAnotherThread {
                    for _ in 0..<50 {
                        guard
                            let port = try? DatagramPort(
                                boundTo: .ipv4Loopback(port: 0),
                                handler: { _, _ in }
                            )
                        else { preconditionFailure("The port cannot be opened.") }
                        UVRunLoop.current.add(port, forMode: .default)
                        try? port.send([1], to: port.localAddress)
                    }
                }
                precondition(openDescriptorCount() == before)
            }
        }
    }

    // MARK: Threads and tasks

    @Test func otherThreadsMaySend() throws {
        try withLoop { loop in
            let received = Box(0)
            let port = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, event in
                if case .received(let batch) = event { received.value += batch.count }
                if received.value == 40 { loop.stop() }
            }
            loop.add(port, forMode: .default)
            let thread = startThread {
                for _ in 0..<40 { try? port.send([1], to: port.localAddress) }
            }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            thread.join()
        }
    }

    @Test func aTaskTakesTheEvents() async throws {
        try await UVRunLoop.withThread { loop in
            let port = try await loop.datagramPort(boundTo: .ipv4Loopback(port: 0))
            try port.send([1, 2], to: port.localAddress)
            var iterator = port.events.makeAsyncIterator()
            let event = await iterator.next()
            if case .received(let batch)? = event {
                #expect(batch.map(\.bytes) == [[1, 2]])
            } else {
                Issue.record("Nothing was received.")
            }
            port.invalidate()
            #expect(await iterator.next() == nil)
        }
    }
}

private func code(of address: Address) -> UVRunLoop.SystemError.Code? {
    code { () throws(UVRunLoop.SystemError) in _ = try DatagramPort(boundTo: address) { _, _ in } }
}
