// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc

/// Both ends of a pipe that no child inherits by accident.
struct LabPipe: ~Copyable {
    let reading: OwnedDescriptor
    let writing: OwnedDescriptor

    init() throws(LabError) {
        var ends: [Int32] = [-1, -1]
        guard clinux_pipe(&ends) == 0 else { throw LabError("pipe", errno: errno) }
        reading = OwnedDescriptor(adopting: ends[0])
        writing = OwnedDescriptor(adopting: ends[1])
    }
}
