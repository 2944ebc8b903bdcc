// SPDX-License-Identifier: Apache-2.0

import Glibc
import Reachability
import ReachabilityCore
import TestSupport
import Testing

@Suite("What a device says of itself")
struct DeviceProbeTests {
    /// A folder like /sys/class/net, removed with the object.
    private final class Tree {
        let root: String
        private var made: [String] = []

        init() throws {
            var template = Array("\(TemporaryFolder.path)/reach-sysfs-XXXXXX".utf8CString)
            root = String(cString: try #require(mkdtemp(&template)))
            made.append(root)
        }

        // Newest first, so that folders are empty when they are removed.
        deinit { for path in made.reversed() { remove(path) } }

        func write(_ path: String, _ text: String) throws {
            var folder = root
            for part in path.split(separator: "/").dropLast() {
                folder += "/\(part)"
                if mkdir(folder, 0o755) == 0 { made.append(folder) }
            }
            let file = try #require(fopen("\(root)/\(path)", "w"))
            if !made.contains("\(root)/\(path)") { made.append("\(root)/\(path)") }
            fputs(text, file)
            fclose(file)
        }
    }

    @Test("type, radio and rfkill switches are read")
    func wifi() throws {
        let tree = try Tree()
        try tree.write("wlan0/ifindex", "3\n")
        try tree.write("wlan0/uevent", "DEVTYPE=wlan\nINTERFACE=wlan0\nIFINDEX=3\n")
        try tree.write("wlan0/phy80211/index", "0\n")
        try tree.write("wlan0/phy80211/rfkill0/soft", "0\n")
        try tree.write("wlan0/phy80211/rfkill0/hard", "0\n")
        let probe = DeviceProbe(root: tree.root)
        #expect(probe.facts(of: 3, name: "wlan0") == DeviceFacts(type: "wlan", hasPhy80211: true))
        try tree.write("wlan0/phy80211/rfkill0/soft", "1\n")
        #expect(probe.facts(of: 3, name: "wlan0").isRadioBlocked)
        try tree.write("wlan0/phy80211/rfkill0/soft", "0\n")
        try tree.write("wlan0/phy80211/rfkill0/hard", "1\n")
        #expect(probe.facts(of: 3, name: "wlan0").isRadioBlocked)
    }

    @Test("UPL-234 the driver's name is that of the link's target")
    func driver() throws {
        let tree = try Tree()
        try tree.write("usb0/ifindex", "5\n")
        try tree.write("usb0/device/uevent", "")
        let driver = "\(tree.root)/usb0/device/driver"
        #expect(symlink("../../../../bus/usb/drivers/rndis_host", driver) == 0)
        defer { unlink(driver) }
        #expect(DeviceProbe(root: tree.root).facts(of: 5, name: "usb0").driver == "rndis_host")
        #expect(DeviceProbe(root: tree.root).facts(of: 6, name: "usb0").driver == nil)
    }

    @Test("sysfs of another namespace, where the name means another interface, counts for nothing")
    func otherNamespace() throws {
        let tree = try Tree()
        try tree.write("wlan0/ifindex", "4\n")
        try tree.write("wlan0/uevent", "DEVTYPE=wlan\n")
        #expect(DeviceProbe(root: tree.root).facts(of: 3, name: "wlan0") == DeviceFacts())
    }

    @Test("names that are no interface's lead nowhere", arguments: ["", ".", "..", "../wlan0", "a/b"])
    func names(_ name: String) throws {
        let tree = try Tree()
        try tree.write("ifindex", "3\n")
        try tree.write("uevent", "DEVTYPE=wlan\n")
        #expect(DeviceProbe(root: tree.root).facts(of: 3, name: name) == DeviceFacts())
    }

    @Test("the loopback of this machine is nothing special")
    func loopback() {
        let index = Int32(bitPattern: if_nametoindex("lo"))
        #expect(DeviceProbe().facts(of: index, name: "lo") == DeviceFacts())
    }

    @Test("the kernel's errors have the names that people know")
    func kernelNames() {
        #expect(KernelNames.error(ENETUNREACH) == "Network is unreachable (ENETUNREACH)")
        #expect(KernelNames.errorSymbol(4000) == nil)
        #expect(NetlinkError("open it", errno: EPERM).description.hasPrefix("cannot open it: "))
    }
}
