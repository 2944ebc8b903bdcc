// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials

/// The lines of an `--input-file`, read in pieces: `URL [MIRROR…] [out=NAME] [sha256=HEX]`.
///
/// Blank lines and lines that begin with `#` say nothing. Lines end with LF or CR LF.
struct GetList {
    /// One content.
    struct Entry: Equatable {
        var url: URL
        var mirrors: [URL] = []
        /// Where it is saved; nil for the last part of the URL's path.
        var name: String?
        var checksum: [UInt8]?
        /// The number of its line, from 1.
        var line: Int
    }

    /// A line that cannot be used.
    struct Fault: Error, Equatable {
        var line: Int
        var sentence: String
    }

    /// The longest line in bytes, so that what is no list ends soon.
    static let longestLine = 16_384
    /// The most lines with a URL.
    static let mostEntries = 100_000

    private(set) var entries: [Entry] = []
    private var line: [UInt8] = []
    private var number = 1

    /// Reads the next bytes.
    mutating func read(_ bytes: [UInt8]) throws(Fault) {
        for byte in bytes {
            guard byte != UInt8(ascii: "\n") else {
                try end()
                number += 1
                continue
            }
            guard line.count < Self.longestLine else {
                throw fault("the line has more than \(Self.longestLine) bytes; this is no list of URLs")
            }
            line.append(byte)
        }
    }

    /// Reads the line that has come, also the last one, which may lack its end.
    mutating func end() throws(Fault) {
        defer { line.removeAll(keepingCapacity: true) }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        if number == 1, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        guard let text = String(validating: line, as: UTF8.self),
            line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") })
        else { throw fault("the line is no text; this is no list of URLs") }
        let words = text.split { $0 == " " || $0 == "\t" }
        guard let first = words.first, !first.hasPrefix("#") else { return }
        guard entries.count < Self.mostEntries else {
            throw fault("there are more than \(Self.mostEntries) URLs; use several files")
        }
        entries.append(try entry(words))
    }

    private func entry(_ words: [Substring]) throws(Fault) -> Entry {
        var urls: [URL] = []
        var (name, checksum): (String?, [UInt8]?) = (nil, nil)
        for word in words {
            do {
                if word.hasPrefix("out=") {
                    name = String(word.dropFirst(4))
                } else if word.hasPrefix("sha256=") {
                    checksum = try Value.sha256(String(word.dropFirst(7)))
                } else {
                    urls.append(try Value.url(String(word)))
                }
            } catch {
                let sentence = (error as? ValidationError)?.message ?? "\(error)"
                throw fault("\(word): \(sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence)")
            }
        }
        guard let url = urls.first else { throw fault("the line names no URL") }
        if let name, name.isEmpty || name == "-" || name.hasSuffix("/") {
            throw fault("out= needs the name of a file")
        }
        if urls.count > 1, checksum == nil {
            throw fault("further URLs of a line are mirrors of its content, and need its checksum: sha256=…")
        }
        return Entry(
            url: url, mirrors: Array(urls.dropFirst()), name: name, checksum: checksum, line: number)
    }

    private func fault(_ sentence: String) -> Fault { Fault(line: number, sentence: sentence) }

    /// Reads a file, standard input for "-"; prints what is wrong with it and throws the exit code.
    static func read(_ name: String) throws(ExitCode) -> [Entry] {
        var list = GetList()
        let file = try InputFile(name)
        while case let piece = try file.next(), !piece.isEmpty {
            try check(name) { () throws(Fault) in try list.read(piece) }
        }
        try check(name) { () throws(Fault) in try list.end() }
        return list.entries
    }

    private static func check(_ name: String, _ read: () throws(Fault) -> Void) throws(ExitCode) {
        do throws(Fault) { try read() } catch {
            complain("\(name == "-" ? "standard input" : name):\(error.line): \(error.sentence)")
            throw .usage
        }
    }
}
