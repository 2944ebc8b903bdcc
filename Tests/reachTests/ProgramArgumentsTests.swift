// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import reach

/// The sources of the program's arguments.
@Suite("The program: its arguments", .timeLimit(.minutes(10)))
struct ProgramArgumentsTests {
    private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Sources/CRuntime").standardizedFileURL.path

    @Test("FLD-025 a static program keeps its arguments where a preloaded library calls setenv first")
    func preloaded() async throws {
        let folder = try ScratchFolder("reach-arguments")
        try Data("print(CommandLine.arguments.dropFirst().joined(separator: \" \"))\n".utf8)
            .write(to: URL(filePath: folder("words.swift")))
        try Data(
            "#include <stdlib.h>\n__attribute__((constructor)) static void set(void) { setenv(\"A\", \"b\", 1); }\n"
                .utf8
        ).write(to: URL(filePath: folder("early.c")))
        let lab = try await GetLab()
        let script = """
            cd \(folder.path) && command -v swiftc clang >/dev/null || exit 99
            clang -shared -fPIC -o early.so early.c && clang -c -I \(Self.sources)/include \(Self.sources)/arguments.c || exit 98
            swiftc -static-stdlib words.swift -o without && swiftc -static-stdlib words.swift arguments.o -o with || exit 97
            LD_PRELOAD=./early.so ./without a b; LD_PRELOAD=./early.so ./with a b
            """
        let end = try await lab.shell(script, [])
        guard end.code != 99 else { return }
        // The first line is the runtime's own result, which may be right with another runtime.
        #expect(end.code == 0 && end.text.hasSuffix("\na b\n"), "\(end)")
    }

    @Test("FLD-025 the kernel's list has each word, empty ones too; a file that ends within a word has none")
    func kernelList() throws {
        let folder = try ScratchFolder("reach-arguments")
        let file = folder("cmdline")
        for (text, words) in [
            ("reach\0get\0\0-q\0", ["reach", "get", "", "-q"]), ("reach\0", ["reach"]), ("", nil),
            ("reach", nil),
        ] as [(String, [String]?)] {
            try Data(text.utf8).write(to: URL(filePath: file))
            #expect(ProgramArguments.fromKernel(file) == words, "\(text)")
        }
        #expect(ProgramArguments.fromKernel(folder("none")) == nil)
        // The C library's arguments are equal to the kernel's.
        let kernel = try #require(ProgramArguments.fromKernel("/proc/self/cmdline"))
        #expect(ProgramArguments.own == Array(kernel.dropFirst()))
    }
}
