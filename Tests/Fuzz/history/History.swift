// SPDX-License-Identifier: Apache-2.0

import Glibc
import ReachabilityCore
import ServiceCore
import Storage

/// One input of the fuzzer: the bytes of a history's file, read as by `reach history` and opened as by the
/// service.
///
/// Any input is read, refused or set aside, and afterwards the history can be written.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHistory(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let path = "history-input-\(getpid()).sqlite"
    defer { remove(path) }
    write(UnsafeBufferPointer(start: start, count: count), path)
    let (from, to) = (WallTime(seconds: 0), WallTime(seconds: 4_000_000_000))
    if let database = try? HistoryDatabase(reading: path) {
        _ = try? database.timeline(from: from, to: to)
        _ = try? database.timeline(newest: 3, from: from, to: to, running: try? database.lastRun()?.id)
    }
    guard let database = try? HistoryDatabase(path) else { return 0 }
    let run = try? database.beginRun(at: to, boot: 1)
    if let run { try? database.beat(run, at: to, boot: 2, isEnd: true) }
    try? database.prune(before: from, keeping: 2)
    precondition(database.setAside == nil || run != nil, "a new history cannot be written")
    return 0
}

private func write(_ bytes: UnsafeBufferPointer<UInt8>, _ path: String) {
    let number = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    _ = Glibc.write(number, bytes.baseAddress, bytes.count)
    close(number)
}

private func remove(_ path: String) {
    for name in [path] + (1...3).map({ "\(path).damaged-\($0)" }) {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(name + suffix) }
    }
}
