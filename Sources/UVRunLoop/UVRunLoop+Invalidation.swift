extension UVRunLoop {
    // Each kind of item is first made invalid, so that nothing begins any more, and then taken out
    // of its loop. The item's own lock is held over both and the loop's only inside it, in this
    // order everywhere.

    static func invalidate(_ timer: Timer) {
        let isAtHome = timer.isAtHome
        var last: TimerCall?
        // Invalid before it leaves: from then on another loop may claim it.
        timer.withLockedState { _, engine in
            last = timer.becomeInvalid(releasing: isAtHome)
            engine.remove(timer)
            timer.owner.leave()
        } nowhere: {
            last = timer.becomeInvalid(releasing: isAtHome)
        } afterwards: { loop in
            loop.contentsDidChange()
        }
        withExtendedLifetime(last) {}
        if !isAtHome { timer.releaseCallAtHome() }
    }

    static func invalidate(_ observer: Observer) {
        let (isFirst, loop, record) = observer.state.withLock {
            state -> (Bool, UVRunLoop?, ObserverRecord<LoopItems>?) in
            guard observer.validity.exchange(false, ordering: .acquiringAndReleasing) else {
                return (false, nil, nil)
            }
            let loop = exchange(&state.loop, with: nil)
            let record = loop?.withEngine { $0.removeObserver(state.ticket) } ?? nil
            return (true, loop, record)
        }
        guard isFirst else { return }
        observer.handler.release()
        loop?.observerDidLeave()
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
        source.handler.release()
    }

    /// Takes a port-based source out of its loop for good.
    ///
    /// When this returns, the kernel watches its descriptor no longer.
    ///
    /// > Threading: Any thread.
    package static func invalidate(_ port: any PortSource) {
        let loop = takeOut(port.link)
        port.link.receiver.releaseHandler(in: loop)
    }

    /// Makes a port invalid, all but its handler; answers the loop that it was in.
    @discardableResult
    static func takeOut(_ link: PortLink) -> UVRunLoop? {
        let (loop, record) = link.state.withLock { state -> (UVRunLoop?, PortRecord<LoopItems>?) in
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
