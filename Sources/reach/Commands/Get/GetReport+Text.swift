// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Reachability
import ServiceCore
import SessionManager

extension GetReport {
    /// The result: `1.2 MB from example.com in 3.4 s, saved as x (resumed at 43 %)`.
    var sentence: String {
        if wasComplete {
            return expected == nil
                ? "\(file ?? "it") is there already"
                : "\(file ?? "it") is complete already, and its checksum is right"
        }
        var text = "\(AmountText.bytes(bytes)) from \(host) in \(AmountText.seconds(elapsed))"
        if let file { text += ", saved as \(file)" }
        if expected != nil { text += ", checksum right" }
        if retries > 0 { text += retries == 1 ? ", after another try" : ", after \(retries) more tries" }
        if resumedAt > 0, let size { text += " (resumed at \(Self.percent(resumedAt, of: size)) %)" }
        return text
    }

    /// The failure, and whether a part remains for `--resume`.
    func sentence(of failure: Failure) -> String {
        guard let partFile else { return failure.sentence }
        let part =
            partTotal.map { "\(AmountText.bytes(partBytes)) of \(AmountText.bytes($0))" }
            ?? AmountText.bytes(partBytes)
        let way =
            hasValidator
            ? "--resume goes on from there"
            : "but nothing tells whether the server's file stays the same: --resume goes on from there only with --sha256"
        return "\(failure.sentence); \(part) kept in \(partFile), \(way)"
    }

    private static func percent(_ part: Int64, of whole: Int64) -> Int64 {
        whole > 0 ? Int64(Double(part) * 100 / Double(whole)) : 100
    }

    /// One object and a line feed.
    ///
    /// A contract with scripts: a field never changes its type or disappears; new ones are appended.
    func writeJSON(to line: inout TextLine) {
        line.field(#"{"schema":1,"ok":"#, failure == nil)
        line.field(#","exit":"#, failure?.exitCode.rawValue ?? 0)
        line.field(#","status":"#, status)
        line.field(#","version":"#, version?.rawValue)
        line.field(#","url":"#, url.absoluteString)
        line.field(#","remote":"#, remote)
        line.field(#","bytes":"#, bytes)
        line.field(#","size":"#, size)
        line.field(#","total":"#, total)
        line.field(#","resumedAt":"#, resumedAt)
        line.append(literal: ",\"seconds\":")
        Self.write(elapsed, to: &line)
        line.field(#","file":"#, failure == nil ? file : nil)
        line.field(#","kept":"#, partFile)
        line.field(#","keptBytes":"#, partBytes)
        line.field(#","sha256":"#, hash.map(SHA256Digest.text))
        line.field(#","error":"#, failure?.sentence)
        line.field(#","errorCode":"#, failure?.number)
        line.field(#","retries":"#, retries)
        line.field(#","requested":"#, requested.absoluteString)
        line.append(literal: "}\n")
    }

    /// Seconds with three decimals.
    private static func write(_ duration: Duration, to line: inout TextLine) {
        let milliseconds = max(0, duration.inNanoseconds / 1_000_000)
        line.append(milliseconds / 1000)
        line.append(literal: ".")
        line.append(milliseconds % 1000, digits: 3)
    }
}
