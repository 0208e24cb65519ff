extension UVRunLoop {
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
        invalidateKeepingHandler(link)
        link.receiver.releaseHandler()
    }

    /// Marks a port invalid and removes it from its loop; its handler is kept.
    static func invalidateKeepingHandler(_ link: PortLink) {
        link.useMark.dismiss()
        let record = link.owner.withLock { _, engine in
            let record = engine.removePort(link.ticket.value)
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
