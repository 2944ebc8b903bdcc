// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import ServiceCore

/// What this machine is called.
enum Machine {
    /// The host's name (gethostname(2)).
    static var name: String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "localhost" }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The hash of the machine's ID; nil where there is none (machine-id(5)).
    static var id: DeviceID? {
        for path in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
            let number = open(path, O_RDONLY | O_CLOEXEC)
            guard number >= 0 else { continue }
            let file = OwnedDescriptor(adopting: number)
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = read(file.number, &bytes, bytes.count)
            guard count > 0 else { continue }
            if let id = DeviceID(machineID: String(decoding: bytes[..<count], as: UTF8.self)) { return id }
        }
        return nil
    }
}
