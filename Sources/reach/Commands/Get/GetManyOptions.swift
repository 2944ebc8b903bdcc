// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Glibc

/// The options for several URLs, of several contents or of one.
struct GetManyOptions: ParsableArguments {
    @Option(
        name: [.customShort("i"), .customLong("input-file")],
        help: ArgumentHelp(
            "Fetch the URLs of this file too; - for standard input. One on a line, with out=NAME, sha256=HEX and mirrors after it. They are saved as with -O.",
            valueName: "file"))
    var list: String?

    @Option(
        name: .customLong("output-dir"),
        help: ArgumentHelp("Save in this folder; without -o as with -O.", valueName: "folder"))
    var folder: String?

    @Option(
        name: [.customShort("j"), .customLong("parallel")],
        help: ArgumentHelp(
            "Fetch so many at once. (default: 3, to standard output one after the other)",
            valueName: "count"),
        transform: Value.parallel)
    var parallel: Int?

    @Flag(name: .customLong("fail-early"), help: "End all when one has failed.")
    var failsEarly = false

    @Option(
        name: .customLong("mirror"),
        help: ArgumentHelp(
            "Another URL of the same content, for --sha256; asked where the one before fails. Several are asked in their order.",
            valueName: "url"),
        transform: Value.url)
    var mirrors: [URL] = []

    /// The default number of transfers at once.
    static let usualParallel = 3

    /// Refuses a folder that is not there.
    func checkFolder() throws(ExitCode) {
        var status = stat()
        guard let folder, stat(folder, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR else { return }
        complain("\(folder) is no folder; make it first")
        throw .inputOutput
    }

    func validate() throws {
        if list?.isEmpty == true { throw ValidationError("-i needs the name of a file, or - .") }
        if folder?.isEmpty == true { throw ValidationError("--output-dir needs the name of a folder.") }
    }
}
