// SPDX-License-Identifier: Apache-2.0

import TestSupport

extension NetworkLab {
    /// Whether the kernel makes VXLAN links, the tunnels that a small one has most likely; tried once.
    static let makesVXLAN: Bool = {
        guard isAvailable, let namespace = try? TestNamespace() else { return false }
        return (try? namespace.shell("ip link add vx0 type vxlan id 7 dstport 4789")) != nil
    }()

    /// Whether the kernel makes IFB links, which drop what is sent through them; tried once.
    static let makesIFB: Bool = {
        guard isAvailable, let namespace = try? TestNamespace() else { return false }
        return (try? namespace.shell("ip link add ks0 type ifb")) != nil
    }()
}
