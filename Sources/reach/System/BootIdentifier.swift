// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc

/// Which start of the machine this is.
enum BootIdentifier {
    /// `boot_id` (random(4)); empty where the kernel does not tell.
    static var current: String {
        let number = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return "" }
        let file = OwnedDescriptor(adopting: number)
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(file.number, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)).prefix { $0 > 0x20 }, as: UTF8.self)
    }
}
