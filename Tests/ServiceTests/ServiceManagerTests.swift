// SPDX-License-Identifier: Apache-2.0

import Service
import Testing

@Suite("What the service manager hands over")
struct ServiceManagerTests {
    private func manager(_ environment: [String: String]) -> ServiceManager {
        ServiceManager(environment: { environment[$0] }, process: 42)
    }

    @Test("sockets are found by name, and the first one stands in for the main one")
    func sockets() {
        let named = manager(["LISTEN_PID": "42", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "metrics:varlink"])
        #expect(named.socket(named: "varlink") == 4)
        #expect(named.socket(named: "metrics") == 3)
        #expect(named.socket(named: "other") == nil)
        #expect(named.socket(named: "other", isMain: true) == 4)
        #expect(manager(["LISTEN_PID": "42", "LISTEN_FDS": "1"]).socket(named: "varlink", isMain: true) == 3)
    }

    @Test("sockets of another process, and numbers that are none, do not count")
    func strangers() {
        for environment in [
            ["LISTEN_PID": "41", "LISTEN_FDS": "1"], ["LISTEN_FDS": "1"],
            ["LISTEN_PID": "42", "LISTEN_FDS": "-1"], ["LISTEN_PID": "42", "LISTEN_FDS": "many"],
        ] {
            #expect(manager(environment).socket(named: "varlink", isMain: true) == nil)
        }
    }

    @Test("a watchdog counts if it is for this process and the service manager listens")
    func watchdog() {
        let socket = "/nowhere"
        #expect(
            manager(["NOTIFY_SOCKET": socket, "WATCHDOG_USEC": "3000000"]).watchdog == .seconds(3))
        #expect(
            manager(["NOTIFY_SOCKET": socket, "WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "42"]).watchdog
                == .seconds(3))
        #expect(
            manager(["NOTIFY_SOCKET": socket, "WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "41"]).watchdog
                == nil)
        #expect(manager(["WATCHDOG_USEC": "3000000"]).watchdog == nil)
        #expect(manager(["NOTIFY_SOCKET": socket, "WATCHDOG_USEC": "x"]).watchdog == nil)
    }
}
