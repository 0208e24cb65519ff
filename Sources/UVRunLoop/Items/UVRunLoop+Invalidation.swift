extension UVRunLoop {
    // An item becomes invalid, so that no call begins any more, and leaves its loop under one lock.

    static func invalidate(_ timer: Timer) {
        timer.useMark.dismiss()
        let isAtHome = timer.home.isHere
        var last: TimerCall?
        timer.owner.withLock { _, engine in
            timer.becomeInvalid(releasing: isAtHome, &last)
            engine.remove(timer)
            timer.owner.leave()
        } nowhere: {
            timer.becomeInvalid(releasing: isAtHome, &last)
        } afterwards: { loop in
            loop.contentsDidChange()
        }
        withExtendedLifetime(last) {}
        if !isAtHome { timer.releaseCallAtHome() }
    }

    static func invalidate(_ observer: Observer) {
        observer.useMark.dismiss()
        let record = observer.owner.withLock { _, engine in
            let record = engine.removeObserver(observer.ticket)
            observer.owner.invalidate()
            observer.owner.leave()
            return record
        } nowhere: {
            observer.owner.invalidate()
            return nil
        } afterwards: { loop in
            // A sleeping run's view of its mode retains the observer until the view is refreshed.
            if !loop.isOnOwnThread { loop.contentsDidChange() }
        }
        observer.handler.release()
        withExtendedLifetime(record) {}
    }

    static func invalidate(_ source: Source) {
        source.useMark.dismiss()
        let (links, released) = source.state.withLock {
            state -> ([Source.Link], ModeCalls.Handlers?) in
            guard state.isValid else { return ([], nil) }
            state.isValid = false
            source.forgetSignal()
            let links = exchange(&state.links, with: [])
            for link in links {
                let left = link.loop.withEngine { $0.removeSource(link.ticket) }
                source.didLeave(left, of: link.loop, &state)
            }
            return (links, state.modeCalls.end())
        }
        withExtendedLifetime(released) {}
        source.makeModeCalls()
        for link in links { link.loop.contentsDidChange() }
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
        takeOut(link)
        link.receiver.releaseHandler()
    }

    /// Marks a port invalid and removes it from its loop; its handler is kept.
    static func takeOut(_ link: PortLink) {
        link.useMark.dismiss()
        let record = link.owner.withLock { _, engine in
            let record = engine.removePort(link.ticket)
            link.owner.invalidate()
            link.owner.leave(staysBusy: link.descriptor != nil)
            return record
        } nowhere: {
            link.owner.invalidate()
            return nil
        } afterwards: { loop in
            loop.endLeaving(link)
            loop.contentsDidChange()
        }
        withExtendedLifetime(record) {}
    }
}
