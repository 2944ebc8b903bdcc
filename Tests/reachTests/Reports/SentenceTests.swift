// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import reach

/// Messages on standard error, in which no word may be cut in two.
struct SentenceTests {
    private let text = "the server cannot be connected to; check host and port, and that the service runs"

    @Test("A complaint is broken at spaces on a terminal, and whole in a pipe")
    func complaint() {
        #expect(
            Style(width: 40).sentence(text, after: "reach: ") == """
                reach: the server cannot be connected
                       to; check host and port, and that
                       the service runs
                """)
        #expect(Style().sentence(text, after: "reach: ") == "reach: " + text)
        #expect(Style(width: 40).sentence("x\u{1B}[2Jy", after: "reach: ") != "reach: x\u{1B}[2Jy")
    }

    @Test(
        "What fits into no line stands where it comes; what follows goes by where the terminal has broken it")
    func longWords() {
        let path = "/var/lib/" + String(repeating: "x", count: 40)
        #expect(
            Style(width: 40).sentence("\(path): No such file or directory, alas", after: "reach: ") == """
                reach: \(path): No such file or
                       directory, alas
                """)
    }
}
