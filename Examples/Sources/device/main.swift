// SPDX-License-Identifier: Apache-2.0

// A device: fetches the firmware that its server offers, then sends each line of standard input as a sample,
// until the input ends or SIGTERM comes: device URL SERIAL REFRESH-TOKEN FIRMWARE-FILE <samples

import Dispatch
import FoundationEssentials
import Glibc
import SessionManager

let words = CommandLine.arguments
guard words.count == 5 else {
    print("usage: device URL SERIAL REFRESH-TOKEN FIRMWARE-FILE <samples")
    exit(64)
}
let device = Device(
    words[2], api: try HTTPSessionManager(baseURL: words[1]),
    login: try HTTPSessionManager(baseURL: words[1]),
    token: Token(access: "", refresh: words[3], expires: .distantPast))

signal(SIGTERM, SIG_IGN)
let termination = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
termination.setEventHandler {
    print("device: ends when what is on its way has arrived")
    device.stop()
}
termination.resume()

do {
    if try await device.update(words[4], version: "1") { print("\(words[4]) is complete") }
    while let line = readLine(), let value = Double(line) {
        try await device.report(Device.Sample(takenAt: Date(), value: value))
        print("reported: \(value)")
    }
} catch let error as SessionError where error.code == .invalidated {
    exit(0)
} catch {
    print("device: \(error)")
    exit(1)
}
