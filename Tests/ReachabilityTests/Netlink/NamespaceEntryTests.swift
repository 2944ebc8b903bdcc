// SPDX-License-Identifier: Apache-2.0

import Glibc
import Reachability
import ReachabilityCore
import Testing

@Suite("Other network namespaces")
struct NamespaceEntryTests {
    @Test("RB-21 the caller's thread stays where it is", .needsNamespace)
    func callerStays() throws {
        func own() -> ino_t {
            var status = stat()
            stat("/proc/thread-self/ns/net", &status)
            return status.st_ino
        }
        let before = own()
        let inside = try TestNamespace().entry.run { own() }
        #expect(inside != before)
        #expect(own() == before)
    }

    @Test("RB-21 a socket belongs to the namespace it was opened in", .needsNamespace)
    func sockets() throws {
        let namespace = try TestNamespace.withDefaultRoute()
        let inside = try KernelClient(namespace: namespace.entry).answers(to: [.linkNamed("v0")])
        let outside = try KernelClient().answers(to: [.linkNamed("v0")])
        #expect(inside != outside)
        #expect(outside == [.failure(ENODEV)])
    }

    @Test("a name that is not there, and a file that is no namespace, say so")
    func refusals() {
        #expect {
            try NamespaceEntry(path: "/run/netns/nowhere")
        } throws: {
            guard let error = $0 as? ReachabilityError else { return false }
            return error.code == .namespaceRefused && error.errno == ENOENT
                && error.advice.contains("ip netns")
        }
        #expect {
            try NamespaceEntry(path: "/dev/null")
        } throws: {
            guard let error = $0 as? ReachabilityError else { return false }
            return error.code == .namespaceRefused && error.errno == EINVAL
                && error.advice.contains("must name")
        }
    }
}
