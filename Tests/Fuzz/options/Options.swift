// SPDX-License-Identifier: Apache-2.0

import ServiceCore

/// One input of the fuzzer: the bytes of the service's configuration file.
///
/// For any input each problem has a sentence without control characters, and a configuration without problems
/// survives being printed as by `reach serve --check` and read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOptions(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let reader = read(Array(UnsafeBufferPointer(start: start, count: count)))
    for problem in reader.problems {
        precondition(
            problem.description.unicodeScalars.allSatisfy { $0.value >= 0x20 }, "a problem steers a terminal")
    }
    guard reader.problems.isEmpty else { return 0 }
    let text = ConfigurationText.effective(reader.configuration, sources: [:])
    let again = read(Array(text.utf8))
    precondition(again.problems.isEmpty, "a configuration that is in force cannot be read again")
    precondition(
        again.configuration == reader.configuration, "a configuration changed when it was read again")
    return 0
}

private func read(_ bytes: [UInt8]) -> ConfigurationReader {
    var reader = ConfigurationReader()
    reader.read(file: "reach.toml", bytes)
    reader.finish()
    return reader
}
