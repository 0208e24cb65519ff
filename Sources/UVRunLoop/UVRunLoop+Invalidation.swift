extension UVRunLoop {
    // An item is first marked invalid, so that no call begins any more, and then removed from its
    // loop. Lock order: the item's lock, held over both steps, then the loop's.

    static func invalidate(_ timer: Timer) {
        timer.useMark.dismiss()
        let isAtHome = timer.isAtHome
        var last: TimerCall?
        // Invalid before it leaves, because another loop may claim it as soon as it has left.
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
        observer.useMark.dismiss()
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
        // A sleeping run's view of its mode retains the observer until the view is refreshed.
        if let loop, !loop.isOnOwnThread { loop.contentsDidChange() }
        withExtendedLifetime(record) {}
    }

    static func invalidate(_ source: Source) {
        source.useMark.dismiss()
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

    /// Invalidates a port-based source and removes it from its loop.
    ///
    /// When this returns, the kernel no longer watches its descriptor.
    ///
    /// > Threading: Any thread.
    package static func invalidate(_ port: any PortSource) { invalidate(port.link) }

    /// Invalidates a port-based source by its link.
    ///
    /// > Threading: Any thread.
    package static func invalidate(_ link: PortLink) {
        let loop = takeOut(link)
        link.receiver.releaseHandler(in: loop)
    }

    /// Marks a port invalid and removes it from its loop; its handler is kept.
    ///
    /// - Returns: The loop that it was in.
    @discardableResult
    static func takeOut(_ link: PortLink) -> UVRunLoop? {
        link.useMark.dismiss()
        let (loop, record) = link.state.withLock { state -> (UVRunLoop?, PortRecord<LoopItems>?) in
            guard link.validity.exchange(false, ordering: .acquiringAndReleasing) else {
                return (nil, nil)
            }
            let loop = exchange(&state.loop, with: nil)
            let record = loop?.withEngine { $0.removePort(state.ticket) } ?? nil
            if let record { loop?.unwatchDescriptor(of: record) }
            return (loop, record)
        }
        if record != nil { loop?.contentsDidChange() }
        withExtendedLifetime(record) {}
        return loop
    }
}
