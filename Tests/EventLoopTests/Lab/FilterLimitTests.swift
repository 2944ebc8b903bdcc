// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Where tests may do without socket filters.
struct FilterLimitTests {
    @Test("Since Linux 6.9 a namespace has a limit of its own")
    func releases() {
        for release in ["6.9", "6.9.0-rc1", "6.12.9+deb13-amd64", "6.18.44", "7.0.1"] {
            #expect(FilterLimit.isOwn(release: release), "\(release)")
        }
        for release in ["4.13.0", "5.15.0-91-generic", "6.8.12", "6.1.0-18-amd64", ""] {
            #expect(!FilterLimit.isOwn(release: release), "\(release)")
        }
    }
}
