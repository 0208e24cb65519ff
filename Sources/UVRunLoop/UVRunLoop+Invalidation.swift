extension UVRunLoop {
    // Each kind of item is first made invalid, so that nothing begins any more, and then taken out
    // of its loop. The item's own lock is held over both and the loop's only inside it, in this
    // order everywhere.

    static func invalidate(_ timer: Timer) {
        var call: TimerCall?
        timer.whereverItIs { _, engine in
            engine.remove(timer)
            timer.residence.leave()
            call = timer.takeCall()
        } nowhere: {
            call = timer.takeCall()
        } afterwards: { loop in
            loop.contentsDidChange()
            if loop.hasToLetGo(of: timer.home), let call = call.take() { loop.discard(call) }
        }
    }

    static func invalidate(_ observer: Observer) {
        let (loop, record, call) = observer.state.withLock {
            state -> (UVRunLoop?, ObserverRecord?, ObserverCall?) in
            guard observer.validity.exchange(false, ordering: .acquiringAndReleasing) else {
                return (nil, nil, nil)
            }
            let loop = exchange(&state.loop, with: nil)
            let record = loop?.withEngine { $0.removeObserver(state.ticket) } ?? nil
            return (loop, record, state.call.take())
        }
        guard let loop else { return }
        if loop.hasToLetGo(of: observer.home), let call { loop.discard(call) }
        loop.observerDidLeave()
        withExtendedLifetime(record) {}
    }

    static func invalidate(_ source: Source) {
        let links = source.state.withLock { state -> [(link: Source.Link, left: [Mode])] in
            guard state.isValid else { return [] }
            state.isValid = false
            source.forgetSignal(&state)
            return exchange(&state.links, with: []).map { link in
                let left = link.loop.withEngine { $0.removeSource(link.ticket) }
                return (link, left)
            }
        }
        for (link, left) in links {
            left.forEach { source.cancel?(link.loop, $0) }
            link.loop.contentsDidChange()
        }
        let atHome = links.lazy.map(\.link.loop).first { source.handler.isAtHome(in: $0) }
        source.handler.letGo(with: atHome)
    }

    /// Takes a port-based source out of its loop for good.
    ///
    /// When this returns, the kernel watches its descriptor no longer.
    ///
    /// > Threading: Any thread.
    package static func invalidate(_ port: any PortSource) {
        let loop = takeOut(port.link)
        port.link.receiver.letGo(in: loop)
    }

    /// Makes a port invalid, all but its handler; answers the loop that it was in.
    @discardableResult
    static func takeOut(_ link: PortLink) -> UVRunLoop? {
        let (loop, record) = link.state.withLock { state -> (UVRunLoop?, PortRecord?) in
            guard link.validity.exchange(false, ordering: .acquiringAndReleasing) else {
                return (nil, nil)
            }
            let loop = exchange(&state.loop, with: nil)
            let record = loop?.withEngine { $0.removePort(state.ticket) } ?? nil
            return (loop, record)
        }
        if let loop, let record {
            loop.unwatchDescriptor(of: record)
            loop.contentsDidChange()
        }
        return loop
    }
}
