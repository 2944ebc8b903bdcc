// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc

/// Reports that a file or a folder is removed or moved: inotify(7) on the path itself, on the loop's thread.
final class PathWatcher {
    private let descriptor: OwnedDescriptor
    private let loop: Reactor

    /// - Parameters:
    ///   - folder: the initializer returns nil if there is none, or no watch is left (fs.inotify).
    ///   - file: a file in it that is open: when it is removed it loses its name only.
    ///   - reportsNew: whether what appears in the folder is reported too.
    ///   - changed: may also be called when nothing was removed.
    init?(
        folder: String, file: String? = nil, reportsNew: Bool = false, on loop: Reactor,
        changed: @escaping () -> Void
    ) {
        let number = inotify_init1(Int32(O_CLOEXEC | O_NONBLOCK))
        guard number >= 0 else { return nil }
        descriptor = OwnedDescriptor(adopting: number)
        self.loop = loop
        let gone = UInt32(IN_DELETE_SELF | IN_MOVE_SELF)
        let new = reportsNew ? UInt32(IN_CREATE | IN_MOVED_TO) : 0
        guard inotify_add_watch(number, folder, gone | new | UInt32(IN_ONLYDIR)) >= 0 else { return nil }
        // IN_ATTRIB reports a removed link; the file itself lives while it is open.
        if let file {
            guard inotify_add_watch(number, file, gone | UInt32(IN_ATTRIB) | UInt32(IN_DONT_FOLLOW)) >= 0
            else { return nil }
        }
        let watch = try? loop.watch(number, for: .readable, retrying: true) { _ in
            withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
                while read(number, buffer.baseAddress, buffer.count) > 0 {}
            }
            changed()
        }
        guard watch != nil else { return nil }
    }

    func end() { loop.unwatch(descriptor.number) }
}

extension String {
    /// The folder that a path lies in.
    var enclosingFolder: String {
        guard let end = lastIndex(of: "/") else { return "." }
        return end == startIndex ? "/" : String(self[..<end])
    }
}
