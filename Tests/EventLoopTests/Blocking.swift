// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Holds a thread until a descriptor is readable: how a test keeps a loop busy for exactly as long as it wants.
func blockUntilReadable(_ descriptor: Int32) {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while poll(&request, 1, -1) < 0 && errno == EINTR {}
}
