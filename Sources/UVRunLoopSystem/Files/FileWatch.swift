import UVRunLoop

extension UVRunLoop {
    /// Reports changes of a file, or of the files in a directory.
    ///
    /// The source watches the file or directory that the path refers to when the source is created,
    /// not the path: it follows a file that is renamed, and reports nothing of another file that
    /// takes its place. To learn of files that are replaced, as many programs do when they save,
    /// watch the directory. What is in subdirectories is not watched.
    ///
    /// Changes are delivered one per call, in order, in the modes to which the source was added. A
    /// change that resembles one of the latest that still wait is merged with it. If more than
    /// ``capacity`` wait, the further ones are dropped, and the last change is
    /// ``Kinds/overflowed``: the program should then read the directory anew. The kernel drops
    /// changes, too, without notice, when the loop does not poll while more than
    /// `/proc/sys/fs/inotify/max_queued_events` happen.
    ///
    /// A path may change so fast that the loop has read twice as many of its changes in a row, and
    /// nothing else for 20 ms of processor time. The watch then rests, which is told as
    /// ``Kinds/overflowed``, and begins anew when the loop has served what waits. If the path
    /// refers to another file or to none by then, that change is the last, and the source becomes
    /// invalid.
    ///
    /// The removal of the file itself is the last change, as ``Kinds/renamed``, because nothing can
    /// happen to it any more. The source stays valid, and keeps its modes from being empty, until it
    /// is invalidated.
    ///
    /// The source becomes invalid when the thread of its loop ends.
    ///
    /// See *Input Sources* in Apple's guide.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class FileWatch: PortSource {
        /// The kinds of changes of a file.
        public struct Kinds: OptionSet, Hashable, Sendable {
            /// The bits of the set.
            public let rawValue: Int

            /// Creates a set from its bits.
            public init(rawValue: Int) { self.rawValue = rawValue }

            /// The file was created, removed or renamed, or the properties of a directory have
            /// changed, which libuv does not tell apart.
            public static let renamed = Kinds(rawValue: 1)
            /// The contents or the properties of the file have changed.
            public static let changed = Kinds(rawValue: 2)
            /// Changes were dropped, because too many waited.
            public static let overflowed = Kinds(rawValue: 4)
        }

        /// A change of a file.
        public struct Change: Hashable, Sendable {
            /// The name of the file in the watched directory, or of the watched file.
            ///
            /// It is `nil` if it is not known. Bytes that are not UTF-8 are replaced. Of a file
            /// that the loop watches under several names, it is the name that was watched first.
            public let name: String?
            /// The kinds of the changes.
            public internal(set) var kinds: Kinds
        }

        /// How many changes may wait.
        public static let capacity = 1_024

        /// The link between the source and its loop.
        public let link: PortLink
        /// The path, as it was given.
        public let path: String
        private let receiver: EventReceiver<FileWatch, Change>

        /// Starts to watch a file or directory for the calling thread's loop.
        ///
        /// Add the source to the loop with
        /// ``UVRunLoop/add(_:forMode:file:line:)-(UVRunLoop.PortSource,_,_,_)``. Changes from now
        /// on are reported. The first watch of a loop takes a file descriptor.
        ///
        /// > Threading: The thread whose loop serves the source. Traps if the loop runs in virtual
        /// > time.
        ///
        /// - Parameters:
        ///   - path: The path of a file or directory.
        ///   - order: The position among sources that become ready at the same time; lower ones are
        ///     served first.
        ///   - handler: Called on the loop's thread with each change.
        /// - Throws: ``SystemError`` if the file does not exist or must not be read, if no
        ///   descriptors or watches (`/proc/sys/fs/inotify/max_user_watches`) are left, or if the
        ///   loop has ended.
        @available(*, noasync, message: "Use watch(_:), which any task may call.")
        public convenience init(
            _ path: String,
            order: Int = 0,
            handler: @escaping (FileWatch, Change) -> Void
        ) throws(SystemError) {
            try self.init(path, order, handler)
        }

        init(
            _ path: String,
            _ order: Int,
            _ handler: ((FileWatch, Change) -> Void)?
        ) throws(SystemError) {
            let inbox = EventInbox<Change>()
            let events = try FileEvents(path, inbox)
            self.path = path
            receiver = EventReceiver(inbox, [events], handler, isLast: { _ in inbox.isAtEnd })
            link = receiver.makeLink(order: order, warnsAs: "a file watch")
        }

        /// The changes as a sequence, for a task that takes them instead of a handler.
        ///
        /// > Threading: Any thread.
        public var changes: SystemEvents<Change> { SystemEvents(self, receiver) }

        /// Whether the source still reports changes.
        public var isValid: Bool { link.isValid }

        /// Removes the source from its loop permanently, and ends the watch.
        ///
        /// Called on the loop's thread, no call of the handler begins after this has returned.
        ///
        /// > Threading: Any thread.
        public func invalidate() { UVRunLoop.invalidate(self) }

        deinit { receiver.releaseHandler() }
    }

    /// Watches a file or directory; see ``FileWatch``.
    ///
    /// The source is in the common modes, which it keeps from being empty until it is invalidated.
    /// Take its ``FileWatch/changes``.
    ///
    /// > Threading: Any task; on the loop's thread it resumes there.
    ///
    /// - Parameters:
    ///   - path: The path of a file or directory.
    ///   - isolation: The caller's actor.
    /// - Returns: The source.
    /// - Throws: ``SystemError`` if it cannot be watched; `CancellationError` if the task is
    ///   cancelled; ``PerformError/threadEnded`` if the loop's thread ends first or has ended.
    public func watch(
        _ path: String,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> FileWatch {
        try await started(isolation: isolation) { try FileWatch(path, 0, nil) }
    }
}

extension [UVRunLoop.FileWatch.Change] {
    /// How many of the latest changes are compared with a new one.
    private static var mergeableCount: Int { 16 }

    /// Adds a change, or merges it with one of the latest.
    mutating func merge(_ change: Element) {
        let latest = Swift.max(startIndex, endIndex - Self.mergeableCount)..<endIndex
        if let index = latest.last(where: { self[$0].name == change.name }) {
            self[index].kinds.formUnion(change.kinds)
        } else if count < UVRunLoop.FileWatch.capacity {
            append(change)
        } else if last?.kinds != .overflowed {
            append(Element(name: nil, kinds: .overflowed))
        }
    }
}
