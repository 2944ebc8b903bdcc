// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Blocks a thread until a descriptor is readable, so that a test decides how long a loop is busy.
func blockUntilReadable(_ descriptor: Int32) {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while poll(&request, 1, -1) < 0 && errno == EINTR {}
}
