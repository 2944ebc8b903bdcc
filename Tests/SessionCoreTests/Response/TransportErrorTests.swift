// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

struct TransportErrorTests {
    @Test(
        "results of libcurl have the numbers that Cocoa programs know",
        arguments: [
            (1, -1002), (3, -1000), (5, -1003), (6, -1003), (7, -1004), (18, -1005), (52, -1005), (55, -1005),
            (56, -1005), (92, -1005),
            (23, -3003), (26, -1021), (27, -9007), (28, -1001), (35, -1200), (37, -1100), (42, -999),
            (47, -1007), (60, -1202), (51, -1202),
            (61, -1015), (67, -1013), (77, -1200), (63, -1103), (90, -1202), (98, -1206), (4, -9002),
            (12345, -1), (-1, -1),
        ])
    func codes(_ curl: Int32, _ expected: Int) {
        #expect(SessionError.Code(curlCode: curl).rawValue == expected)
    }

    @Test(
        "without a network, what cannot be found or connected to is “not connected”",
        arguments: [
            (7, 101, false, -1009), (7, 113, false, -1009), (7, 111, false, -1004), (7, 0, true, -1009),
            (6, 0, true, -1009),
            (28, 0, true, -1001), (56, 101, true, -1005),
        ])
    func offline(_ curl: Int32, _ errno: Int32, _ isOffline: Bool, _ expected: Int) {
        #expect(SessionError.Code(curlCode: curl, osErrno: errno, isOffline: isOffline).rawValue == expected)
    }

    @Test(
        "why a certificate is not accepted",
        arguments: [
            (60, 9, -1204), (60, 10, -1201), (51, 10, -1201), (60, 18, -1203), (60, 19, -1203),
            (60, 20, -1203), (60, 62, -1202),
            (60, 0, -1202), (90, 10, -1202), (60, 1026, -1201), (60, 514, -1204), (60, -1, -1202),
            (60, 66, -1202),
        ])
    func certificates(_ curl: Int32, _ verifyResult: Int, _ expected: Int) {
        #expect(SessionError.Code(curlCode: curl, verifyResult: verifyResult).rawValue == expected)
    }

    @Test("every result says what happened, where, and, unless it was wanted, what to try")
    func texts() throws {
        let url = try SessionRequest("https://host/path").url
        for curl: Int32 in 1...101 {
            let failure = TransportFailure(curlCode: curl, message: "details\r\n\u{1B}[31m of \(curl)")
            let error = SessionError(transport: failure, failingURL: url)
            #expect(!error.message.isEmpty)
            #expect(!error.advice.isEmpty || error.code == .cancelled)
            #expect(error.description.contains("https://host/path"))
            #expect(error.description.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
            #expect(error.transport == failure)
        }
        #expect(SessionError(transport: TransportFailure(curlCode: 60, message: "")).domain == .security)
        #expect(SessionError(transport: TransportFailure(curlCode: 28, message: "")).domain == .transfer)
        #expect(
            SessionError(transport: TransportFailure(curlCode: 7, message: "refused")).message
                == "the server cannot be connected to: refused")
    }

    @Test(
        "UPL-547 a connection without a descriptor is a lack of descriptors, with a network or without",
        arguments: [23, 24], [true, false])
    func descriptors(_ errno: Int32, _ isOffline: Bool) {
        let failure = TransportFailure(curlCode: 7, message: "Couldn't connect to server", errno: errno)
        let error = SessionError(transport: failure, isOffline: isOffline)
        #expect(error.code == .outOfResources)
        #expect(error.message.hasPrefix("too many files are open"))
        #expect(error.advice.contains("raise the limit (ulimit -n, LimitNOFILE=)"))
    }
}
