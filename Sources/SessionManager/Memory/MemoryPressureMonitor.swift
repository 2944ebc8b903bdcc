// SPDX-License-Identifier: Apache-2.0

package import EventLoop
import FoundationEssentials
import Glibc
public import Reachability
public import SessionCore

/// A cache in memory whose content can be loaded again.
public protocol PurgeableCache: AnyObject, Sendable {
    /// Removes everything; whether there was anything. From any thread.
    @discardableResult
    func removeAll() -> Bool
}

/// Reports when memory runs short, as long as it exists: the kernel's pressure stall information.
///
///     let pressure = try MemoryPressureMonitor(purging: [images, thumbnails])
///
/// The kernel gets the thresholds once, and wakes the thread at none below: for the whole system and, where
/// the process is in a control group of version 2 (a service with `MemoryMax=`, a container), for that as
/// well. While pressure lasts it says so once in each window.
///
/// Needs Linux 5.2 with `CONFIG_PSI` and without `psi=0`; before Linux 6.5 also CAP_SYS_RESOURCE.
public final class MemoryPressureMonitor: Sendable {
    /// A file with a threshold, which the kernel forgets when it is closed.
    package final class Trigger: Sendable {
        fileprivate let descriptor: OwnedDescriptor

        /// Takes over a descriptor that becomes ready with `POLLPRI`.
        package init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }
    }

    /// The files that are watched.
    public let files: [String]
    private let triggers: [Trigger]
    private let reactor: Reactor

    /// A monitor that calls a block.
    ///
    /// - Parameters:
    ///   - threshold: what counts as pressure.
    ///   - files: where the kernel reports it; ``defaultFiles`` unless said. Those that are not there are
    ///     left out, unless none is.
    ///   - queue: where `handler` is called.
    ///   - handler: memory runs short.
    /// - Throws: ``SessionError/Code/unsupportedBySystem`` where this kernel does not report it, or not to
    ///   this process, and ``SessionError/Code/outOfResources`` where no descriptor or thread is left.
    public convenience init(
        _ threshold: MemoryPressureThreshold = MemoryPressureThreshold(), files: [String]? = nil,
        queue: DeliveryQueue = .own, handler: @escaping @Sendable () -> Void
    ) throws(SessionError) {
        let text = try threshold.trigger
        var opened: [(String, Trigger)] = []
        var refusal: SessionError?
        for file in files ?? Self.defaultFiles {
            do throws(SessionError) { opened.append((file, try Self.open(file, text))) } catch {
                refusal = refusal ?? error
            }
        }
        if opened.isEmpty, let refusal { throw refusal }
        let reactor: Reactor
        do throws(ReactorError) { reactor = try Reactor.shared } catch {
            throw SessionError(.outOfResources, "no thread can be started: \(error)")
        }
        self.init(opened.map(\.1), files: opened.map(\.0), on: reactor, queue: queue, handler: handler)
    }

    /// A monitor that empties caches, which it does not keep alive.
    ///
    /// - Throws: as ``init(_:files:queue:handler:)``.
    public convenience init(
        _ threshold: MemoryPressureThreshold = MemoryPressureThreshold(), files: [String]? = nil,
        purging caches: [any PurgeableCache]
    ) throws(SessionError) {
        let caches = caches.map { WeakCache($0) }
        try self.init(threshold, files: files) { for cache in caches { cache.cache?.removeAll() } }
    }

    /// A monitor of what has been opened.
    package init(
        _ triggers: [Trigger], files: [String], on reactor: Reactor, queue: DeliveryQueue,
        handler: @escaping @Sendable () -> Void
    ) {
        self.files = files
        self.triggers = triggers
        self.reactor = reactor
        reactor.perform { [reactor] in
            for trigger in triggers {
                let number = trigger.descriptor.number
                // A loop that has ended refuses the watch.
                _ = try? reactor.watch(number, for: .priority) { [weak reactor] readiness in
                    // A control group that was removed reports nothing more.
                    guard readiness == .priority else {
                        reactor?.unwatch(number)
                        return
                    }
                    queue.submit(handler)
                }
            }
        }
    }

    deinit {
        // Closed after that, with the last reference.
        reactor.perform { [reactor, triggers] in
            for trigger in triggers { reactor.unwatch(trigger.descriptor.number) }
        }
    }

    /// The file for the whole system, and the one for this process's control group, where that is another.
    public static var defaultFiles: [String] {
        let own = PressureFiles.own(
            groups: content("/proc/self/cgroup"), mounts: content("/proc/self/mountinfo"))
        return [PressureFiles.system] + (own.map { [$0] } ?? [])
    }

    private static func content(_ path: String) -> String {
        (try? Data(contentsOf: URL(filePath: path))).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private static func open(_ file: String, _ trigger: String) throws(SessionError) -> Trigger {
        let number = Glibc.open(file, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { throw refusal(file, errno) }
        let descriptor = OwnedDescriptor(adopting: number)
        // With the zero at its end, which the kernel overwrites.
        let text = Array(trigger.utf8) + [0]
        guard write(descriptor.number, text, text.count) == text.count else { throw refusal(file, errno) }
        return Trigger(descriptor)
    }

    private static func refusal(_ file: String, _ error: Int32) -> SessionError {
        let advice =
            switch error {
            case EPERM, EACCES: "run with CAP_SYS_RESOURCE, or on Linux 6.5 or later"
            case EINVAL: "choose a window of a multiple of 2 seconds, or run with CAP_SYS_RESOURCE"
            case EMFILE, ENFILE, ENOMEM: "raise the limit of open files (ulimit -n)"
            default: "run a kernel with CONFIG_PSI, and without psi=0 on its command line"
            }
        let isShort = error == EMFILE || error == ENFILE || error == ENOMEM
        return SessionError(
            isShort ? .outOfResources : .unsupportedBySystem,
            "\(file) tells nothing of memory pressure: \(String(cString: strerror(error)))", advice: advice)
    }
}

/// A cache that lives as long as its other owners.
private struct WeakCache: Sendable {
    weak let cache: (any PurgeableCache)?
    init(_ cache: any PurgeableCache) { self.cache = cache }
}
