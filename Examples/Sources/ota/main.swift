// SPDX-License-Identifier: Apache-2.0

// Fetches firmware: waits for a network, goes on where a connection or an earlier run broke off, and puts the
// file into its place only when it is the right one: ota URL SHA-256 FILE [MIRROR…]

import FoundationEssentials
import Glibc
import SessionManager

guard CommandLine.arguments.count >= 4 else {
    print("usage: ota URL SHA-256 FILE [MIRROR…]")
    exit(64)
}
let (address, checksum, path) = (CommandLine.arguments[1], CommandLine.arguments[2], CommandLine.arguments[3])

ReachabilityManager.shared.startMonitoring()
do {
    let mirrors = Array(CommandLine.arguments.dropFirst(4))
    let firmware = Firmware(address: address, sha256: checksum, path: path, mirrors: mirrors)
    try await firmware.fetch(with: URLSessionManager())
    print("\(path) is complete")
} catch {
    print("ota: \(error)")
    exit(1)
}
