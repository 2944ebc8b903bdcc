// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

struct MemoryPressureTests {
    @Test("a threshold as the kernel reads it")
    func threshold() throws {
        var threshold = MemoryPressureThreshold()
        #expect(try threshold.trigger == "some 150000 2000000")
        threshold.extent = .full
        threshold.stall = .microseconds(1)
        threshold.window = .milliseconds(500)
        #expect(try threshold.trigger == "full 1 500000")
        threshold.stall = .seconds(10)
        threshold.window = .seconds(10)
        #expect(try threshold.trigger == "full 10000000 10000000")
    }

    @Test(
        "what no kernel takes is said beforehand",
        arguments: [
            (.zero, .seconds(2)), (.milliseconds(-1), .seconds(2)), (.nanoseconds(999), .seconds(2)),
            (.seconds(3), .seconds(2)), (.milliseconds(1), .milliseconds(499)),
            (.milliseconds(1), .milliseconds(10_001)), (.seconds(Int64.max), .seconds(2)),
            (.seconds(1), .seconds(Int64.max)),
        ] as [(Duration, Duration)])
    func nonsense(_ stall: Duration, _ window: Duration) {
        var threshold = MemoryPressureThreshold()
        threshold.stall = stall
        threshold.window = window
        #expect { try threshold.trigger } throws: { ($0 as? SessionError)?.code == .unsupportedBySystem }
    }

    private static let mount =
        "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate"

    @Test(
        "the pressure file of a process's own control group",
        arguments: [
            (
                "0::/system.slice/frame.service\n", mount,
                "/sys/fs/cgroup/system.slice/frame.service/memory.pressure"
            ),
            // Both versions beside each other.
            (
                "4:memory:/a\n0::/b\n",
                "30 24 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                    + "31 24 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw",
                "/sys/fs/cgroup/unified/b/memory.pressure"
            ),
            // A part of the hierarchy is mounted, at a place with a blank.
            (
                "0::/box/a\n", "35 24 0:30 /box /my\\040groups rw - cgroup2 none rw",
                "/my groups/a/memory.pressure"
            ),
            ("0::/box\n", "35 24 0:30 /box /groups rw - cgroup2 none rw", "/groups/memory.pressure"),
            ("0::/boxes/a\n", "35 24 0:30 /box /groups rw - cgroup2 none rw", nil),
            ("0::/\n", mount, nil), ("4:memory:/a\n", mount, nil), ("", "", nil), ("0::/a\n", "", nil),
            ("0::/a\n", "35 24 0:30 / /sys/fs/cgroup rw -", nil), ("nonsense", "- - - - - - -\n\n", nil),
        ] as [(String, String, String?)])
    func own(_ groups: String, _ mounts: String, _ file: String?) {
        #expect(PressureFiles.own(groups: groups, mounts: mounts) == file)
    }
}
