// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import Reachability
import ReachabilityCore
import TestSupport
import Testing

/// A file's bytes in memory (mmap(2)).
private final class MappedFile {
    private let bytes: UnsafeMutableRawBufferPointer

    init(_ path: String) throws {
        let descriptor = try OwnedDescriptor("open", open(path, O_RDWR | O_CLOEXEC))
        var status = stat()
        guard fstat(descriptor.number, &status) == 0 else { throw ReactorError("fstat", errno: errno) }
        let count = Int(status.st_size)
        let start = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.number, 0)
        guard let start, start != MAP_FAILED else { throw ReactorError("mmap", errno: errno) }
        bytes = UnsafeMutableRawBufferPointer(start: start, count: count)
    }

    deinit { munmap(bytes.baseAddress, bytes.count) }

    func replace(with new: [UInt8]) { bytes.copyBytes(from: new) }
}

/// A folder that stands for `/`, with the leases of DHCP clients.
final class LeaseFolder: Sendable {
    let folder: ScratchFolder
    var files: LeaseFiles { LeaseFiles(root: folder.path) }

    init() throws {
        folder = try ScratchFolder("reach-leases")
        for path in [
            "run", "run/systemd", "run/systemd/netif", "run/systemd/netif/leases",
            "run/systemd/netif/links", "run/systemd/resolve", "run/systemd/resolve/netif", "var", "var/lib",
            "var/lib/dhcpcd", "var/db", "var/db/dhcpcd",
        ] {
            mkdir(folder(path), 0o755)
        }
    }

    func write(_ path: String, _ bytes: [UInt8], mode: mode_t = 0o644) throws {
        let file = try #require(fopen(folder(path), "w"))
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
        chmod(folder(path), mode)
    }

    /// networkd's file about an interface; `nil` as the vendor option for none.
    func lease(_ index: Int32, _ address: String, isMetered: Bool = true, mode: mode_t = 0o644) throws {
        let vendor = isMetered ? "VENDOR_SPECIFIC=414e44524f49445f4d455445524544\n" : ""
        try write(
            "run/systemd/netif/leases/\(index)", Array("ADDRESS=\(address)\n\(vendor)".utf8), mode: mode)
    }
}

struct LeaseFilesTests {
    private static func message(_ last: UInt8, isMetered: Bool = true) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 236)
        bytes.replaceSubrange(16..<20, with: [192, 0, 2, last])
        let vendor: [UInt8] = isMetered ? [43, 15] + Array("ANDROID_METERED".utf8) : []
        return bytes + [99, 130, 83, 99, 53, 1, 5] + vendor + [255]
    }

    @Test("UPL-230 the leases of systemd-networkd, and of dhcpcd where that has none")
    func clients() throws {
        let folder = try LeaseFolder()
        #expect(folder.files.meteredAddress(of: 3, name: "usb0") == nil)
        try folder.write("var/lib/dhcpcd/usb0.lease", Self.message(8))
        #expect(folder.files.meteredAddress(of: 3, name: "usb0") == IPAddress("192.0.2.8"))
        #expect(folder.files.meteredAddress(of: 3, name: "usb1") == nil)
        try folder.write("run/systemd/netif/leases/3", [])
        #expect(folder.files.meteredAddress(of: 3, name: "usb0") == IPAddress("192.0.2.8"), "an empty file")
        try folder.lease(3, "192.0.2.7")
        #expect(folder.files.meteredAddress(of: 3, name: "usb0") == IPAddress("192.0.2.7"))
        try folder.lease(3, "192.0.2.7", isMetered: false)
        #expect(folder.files.meteredAddress(of: 3, name: "usb0") == nil)
        #expect(folder.files.meteredAddress(of: 4, name: "../dhcpcd/usb0") == nil)
        #expect(LeaseFiles(root: "/nowhere").meteredAddress(of: 3, name: "usb0") == nil)
    }

    @Test("UPL-451 dhcpcd's leases are found in its own folder too, where Debian's has none")
    func folders() throws {
        let folder = try LeaseFolder()
        try folder.write("var/db/dhcpcd/usb0.lease", Self.message(8))
        try folder.write("var/db/dhcpcd/wlan0-phone.lease", Self.message(2))
        #expect(folder.files.meteredAddress(of: 3, name: "usb0") == IPAddress("192.0.2.8"))
        #expect(folder.files.meteredAddress(of: 4, name: "wlan0") == IPAddress("192.0.2.2"))
        try folder.write("var/lib/dhcpcd/usb0.lease", Self.message(9, isMetered: false))
        #expect(folder.files.meteredAddress(of: 3, name: "usb0") == nil)
    }

    @Test("UPL-231 of dhcpcd's leases of several Wi-Fi networks the newest counts")
    func networks() throws {
        let folder = try LeaseFolder()
        try folder.write("var/lib/dhcpcd/wlan0-home.lease", Self.message(1, isMetered: false))
        try folder.write("var/lib/dhcpcd/wlan0-phone.lease", Self.message(2))
        try folder.write("var/lib/dhcpcd/wlan00-other.lease", Self.message(3))
        func touch(_ name: String, _ second: Int) {
            let times = [timespec(tv_sec: second, tv_nsec: 0), timespec(tv_sec: second, tv_nsec: 0)]
            utimensat(AT_FDCWD, folder.folder("var/lib/dhcpcd/\(name)"), times, 0)
        }
        touch("wlan0-home.lease", 100)
        touch("wlan0-phone.lease", 200)
        #expect(folder.files.meteredAddress(of: 3, name: "wlan0") == IPAddress("192.0.2.2"))
        touch("wlan0-home.lease", 300)
        #expect(folder.files.meteredAddress(of: 3, name: "wlan0") == nil)
        // In the year 2286: more nanoseconds than 64 bits have. Which one is newer then does not matter.
        touch("wlan0-phone.lease", 9_999_999_999)
        _ = folder.files.meteredAddress(of: 3, name: "wlan0")
    }

    @Test("UPL-232 a file that others may write, a link, a folder, a pipe and a huge file count for nothing")
    func untrusted() throws {
        let folder = try LeaseFolder()
        let path = "run/systemd/netif/leases/3"
        func address() -> IPAddress? { folder.files.meteredAddress(of: 3, name: "usb0") }
        try folder.lease(3, "192.0.2.7", mode: 0o666)
        #expect(address() == nil)
        try folder.lease(3, "192.0.2.7", mode: 0o664)
        #expect(address() == nil)
        try folder.lease(3, "192.0.2.7")
        #expect(address() != nil)
        rename(folder.folder(path), folder.folder("elsewhere"))
        symlink(folder.folder("elsewhere"), folder.folder(path))
        #expect(address() == nil)
        unlink(folder.folder(path))
        mkfifo(folder.folder(path), 0o644)
        #expect(address() == nil, "and it does not wait for a writer")
        unlink(folder.folder(path))
        mkdir(folder.folder(path), 0o755)
        #expect(address() == nil)
        rmdir(folder.folder(path))
        let line = "ADDRESS=192.0.2.7\nVENDOR_SPECIFIC=414e44524f49445f4d455445524544\n"
        try folder.write(path, Array(line.utf8) + [UInt8](repeating: 0x0A, count: LeaseFile.limit))
        #expect(address() == nil)
        if geteuid() == 0 {
            try folder.lease(3, "192.0.2.7")
            chown(folder.folder(path), 12_345, 12_345)
            #expect(address() == nil, "neither root's nor the folder's owner's")
            chown(folder.folder("run/systemd/netif/leases"), 12_345, 12_345)
            #expect(address() != nil)
        }
    }

    @Test("UPL-491 a lease that is remembered is read again when its file, or a folder of leases, changes")
    func remembered() throws {
        let folder = try LeaseFolder()
        // An hour later everything has been as it is for long, so that each answer is remembered.
        let cache = LeaseCache(folder.files, now: { LeaseCache.time() + 3_600_000_000_000 })
        func address(_ index: Int32 = 3, _ name: String = "usb0") -> IPAddress? {
            cache.mayHaveChanged()
            return cache.meteredAddress(of: index, name: name)
        }
        #expect(address() == nil)
        try folder.write("var/lib/dhcpcd/usb0.lease", Self.message(8))
        #expect(address() == IPAddress("192.0.2.8"), "a new file")
        #expect(address(3, "usb1") == nil, "another link with the index of a former one")
        #expect(address() == IPAddress("192.0.2.8"))
        // dhcpcd writes into the file that is there.
        try folder.write("var/lib/dhcpcd/usb0.lease", Self.message(8, isMetered: false))
        #expect(address() == nil)
        try folder.write("var/lib/dhcpcd/usb0.lease", Self.message(9))
        #expect(address() == IPAddress("192.0.2.9"))
        chmod(folder.folder("var/lib/dhcpcd/usb0.lease"), 0o666)
        #expect(address() == nil, "others may write it now")
        try folder.lease(3, "192.0.2.7")
        #expect(address() == IPAddress("192.0.2.7"))
        // networkd puts another file in its place.
        try folder.lease(4, "192.0.2.77")
        rename(folder.folder("run/systemd/netif/leases/4"), folder.folder("run/systemd/netif/leases/3"))
        #expect(address() == IPAddress("192.0.2.77") && address(4) == nil)
        unlink(folder.folder("run/systemd/netif/leases/3"))
        #expect(address() == nil)
    }

    @Test(
        "UPL-492 a lease that was written a moment ago is not remembered: its next change may bear the same time"
    )
    func fresh() throws {
        let folder = try LeaseFolder()
        let name = "var/lib/dhcpcd/usb0.lease"
        try folder.write(name, Self.message(0))
        // Writing through memory changes the file's time with the first byte alone, as two writes within a
        // tick of the kernel's clock do.
        let file = try MappedFile(folder.folder(name))
        // The clock stands at the moment of the writing, however long this takes.
        let written = LeaseCache.time()
        let cache = LeaseCache(folder.files, now: { written })
        for last in UInt8(1)...20 {
            file.replace(with: Self.message(last))
            cache.mayHaveChanged()
            #expect(
                cache.meteredAddress(of: 3, name: "usb0") == IPAddress(v4: 0xC000_0200 | UInt32(last)))
        }
    }

    @Test("UPL-502 a lease that has changed shows once after a default route, and not after other events")
    func changedWithRoute() throws {
        let folder = try LeaseFolder()
        let cache = LeaseCache(folder.files, now: { LeaseCache.time() + 3_600_000_000_000 })
        let (all, some) = (try #require(IPPrefix("0.0.0.0/0")), try #require(IPPrefix("192.0.2.0/24")))
        func changed(_ event: NetworkEvent) -> Bool {
            cache.handle(event)
            return cache.haveChanged()
        }
        try folder.write("var/lib/dhcpcd/usb0.lease", Self.message(8))
        #expect(!changed(.routeAdded(all)), "nothing was answered before")
        #expect(cache.meteredAddress(of: 3, name: "usb0") == IPAddress("192.0.2.8"))
        #expect(!changed(.routeAdded(all)), "the same lease")
        try folder.write("var/lib/dhcpcd/usb0.lease", Self.message(9))
        #expect(!changed(.routeAdded(some)) && !changed(.routeRemoved(all)), "neither comes with a lease")
        #expect(changed(.routeAdded(all)))
        #expect(!cache.haveChanged(), "told once")
        #expect(cache.meteredAddress(of: 3, name: "usb0") == IPAddress("192.0.2.9"))
        // Written a moment before: another of the same time may follow.
        let young = LeaseCache(folder.files)
        _ = young.meteredAddress(of: 3, name: "usb0")
        young.handle(.routeAdded(all))
        #expect(young.haveChanged())
    }

    @Test("UPL-351 a lease in JSON says that traffic costs, as one in lines does")
    func json() throws {
        let folder = try LeaseFolder()
        let lease = #"{"Address":[192,0,2,7],"Vendor_Specific":"414e44524f49445f4d455445524544"}"#
        try folder.write("run/systemd/netif/leases/3", Array(lease.utf8))
        #expect(folder.files.meteredAddress(of: 3, name: "usb0") == IPAddress("192.0.2.7"))
    }

    @Test("UPL-352 what is known of a link counts for nothing where others may write it, or through a link")
    func link() throws {
        let folder = try LeaseFolder()
        let path = "run/systemd/netif/links/3"
        func portal() -> String? { folder.files.link(3).value("CAPTIVE_PORTAL") }
        #expect(portal() == nil)
        let line = "CAPTIVE_PORTAL=https://portal.example/api\n"
        for mode: mode_t in [0o666, 0o646, 0o664] {
            try folder.write(path, Array(line.utf8), mode: mode)
            #expect(portal() == nil, "\(mode)")
        }
        chmod(folder.folder(path), 0o644)
        #expect(portal() == "https://portal.example/api")
        rename(folder.folder(path), folder.folder("elsewhere"))
        symlink(folder.folder("elsewhere"), folder.folder(path))
        #expect(portal() == nil)
    }
}

/// Files of the system, which may be symbolic links.
struct NameServerFilesTests {
    @Test("UPL-354 name servers: networkd's for the link, else resolv.conf's, which may be a symbolic link")
    func servers() throws {
        let folder = try LeaseFolder()
        func servers() -> [String] {
            NameServerFiles(root: folder.folder.path).servers(for: 3, name: "eth0").map(\.description)
        }
        #expect(servers().isEmpty)
        mkdir(folder.folder("etc"), 0o755)
        try folder.write("stub", Array("nameserver 127.0.0.53\nnameserver 192.0.2.53\n".utf8), mode: 0o664)
        symlink("../stub", folder.folder("etc/resolv.conf"))
        #expect(servers() == ["192.0.2.53"])
        let own = Array("DNS=198.51.100.1#name 2001:db8::1\n".utf8)
        try folder.write("run/systemd/netif/links/3", own, mode: 0o666)
        #expect(servers() == ["192.0.2.53"], "others may write it")
        try folder.write("run/systemd/netif/links/3", own)
        #expect(servers() == ["198.51.100.1", "2001:db8::1"])
        try folder.write("hosts", Array("192.0.2.1 printer Printer.example # x\n".utf8))
        symlink("../hosts", folder.folder("etc/hosts"))
        let files = NameServerFiles(root: folder.folder.path)
        #expect(files.hasHost("printer.example") && !files.hasHost("x"))
    }

    @Test("UPL-455 name servers that NetworkManager gave systemd-resolved for the link, with ports and zones")
    func resolved() throws {
        let folder = try LeaseFolder()
        func servers(_ index: Int32, _ name: String) -> [String] {
            NameServerFiles(root: folder.folder.path).servers(for: index, name: name).map(\.description)
        }
        mkdir(folder.folder("etc"), 0o755)
        let text = "nameserver fe80::1%eth0\nnameserver fe80::1%4\nnameserver 127.0.0.53\n"
        try folder.write("etc/resolv.conf", Array(text.utf8))
        #expect(servers(3, "eth0") == ["fe80::1"] && servers(4, "wlan0") == ["fe80::1"])
        #expect(servers(5, "wwan0").isEmpty)
        let own = "LLMNR=yes\nSERVERS=192.0.2.1:5353#a [2001:db8::1]:54%wlan0#b 192.0.2.1%eth0\nDOMAINS=lan\n"
        try folder.write("run/systemd/resolve/netif/4", Array(own.utf8))
        #expect(servers(4, "wlan0") == ["192.0.2.1:5353", "[2001:db8::1]:54"])
        #expect(servers(3, "eth0") == ["fe80::1"])
        // networkd's come first, where it configures the link.
        try folder.write("run/systemd/netif/links/4", Array("DNS=198.51.100.1\n".utf8))
        #expect(servers(4, "wlan0") == ["198.51.100.1"])
    }

    @Test("UPL-403 name servers: OpenWrt's of the interface, or all where its name is another; pppd's")
    func routers() throws {
        let folder = try LeaseFolder()
        func servers(_ name: String) -> [String] {
            NameServerFiles(root: folder.folder.path).servers(for: 3, name: name).map(\.description)
        }
        for path in ["etc", "etc/ppp", "tmp", "tmp/resolv.conf.d"] { mkdir(folder.folder(path), 0o755) }
        chmod(folder.folder("tmp"), 0o1777)
        try folder.write("etc/resolv.conf", Array("search lan\nnameserver 127.0.0.1\n".utf8))
        let text = """
            # Interface wan
            nameserver 192.0.2.1
            nameserver 192.0.2.2
            # Interface modem
            nameserver 198.51.100.1
            # Interface empty

            """
        for path in ["tmp/resolv.conf.auto", "tmp/resolv.conf.d/resolv.conf.auto"] {
            try folder.write(path, Array(text.utf8))
            let all = ["192.0.2.1", "192.0.2.2", "198.51.100.1"]
            #expect(servers("wan") == ["192.0.2.1", "192.0.2.2"])
            #expect(servers("pppoe-wan") == ["192.0.2.1", "192.0.2.2"])
            #expect(servers("modem") == ["198.51.100.1"])
            #expect(servers("eth0.2") == all && servers("empty") == all && servers("swan") == all)
            let file = folder.folder(path)
            // A file that others may write, or that is another user's, as the folder is.
            chmod(file, 0o666)
            #expect(servers("wan").isEmpty)
            chmod(file, 0o644)
            let parent = file.split(separator: "/").dropLast().joined(separator: "/")
            if geteuid() == 0 {
                for path in [file, "/" + parent] { #expect(chown(path, 65534, 65534) == 0) }
                #expect(servers("wan").isEmpty)
            }
            unlink(file)
        }
        try folder.write("etc/ppp/resolv.conf", Array("nameserver 203.0.113.9\n".utf8))
        #expect(servers("ppp0") == ["203.0.113.9"] && servers("eth0") == ["203.0.113.9"])
        try folder.write("etc/resolv.conf", Array("nameserver 192.0.2.53\n".utf8))
        #expect(servers("ppp0") == ["203.0.113.9"] && servers("eth0") == ["192.0.2.53"])
    }
}

/// Leases beside the real kernel.
@Suite(.enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct LeaseScenarios {
    @Test("UPL-233 a lease that says so makes its link expensive, with the event of its address or route")
    func lease() async throws {
        let folder = try LeaseFolder()
        let scenario = try await Scenario(.f1) { _ in
        } environment: { environment in
            environment.makeKernel = { [files = folder.files] configuration throws(ReachabilityError) in
                KernelClient(
                    namespace: try NamespaceEntry(path: configuration.networkNamespace ?? ""), leases: files)
            }
        }
        await scenario.start(expecting: .wired, on: "v0")
        #expect(!scenario.path.isExpensive)
        let index = scenario.path.interfaceIndex
        try folder.lease(index, "10.0.0.9")
        // The file alone is no event: nothing reads it.
        await scenario.log.wait(forCount: 1)
        try await scenario.near.ip("addr add 10.0.0.9/24 dev v0")
        await scenario.wait { $0.isExpensive && $0.metered == .guessYes }
        try folder.lease(index, "10.0.0.9", isMetered: false)
        try await scenario.near.ip("route replace default via 10.0.0.1 dev v0 metric 5")
        await scenario.wait { !$0.isExpensive }
        try folder.lease(index, "10.0.0.77")
        try await scenario.near.ip("addr add 10.0.0.8/24 dev v0")
        await scenario.expect([], on: "v0")
        #expect(!scenario.path.isExpensive, "the lease of an address that the link does not have")
        scenario.manager.stopMonitoring()
    }
}
