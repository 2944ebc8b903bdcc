// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// The folder of a cache: which files are in it, and their names.
struct CacheDirectory: Sendable {
    let path: String

    /// Makes the folder and those above it, for this user alone.
    func create() {
        var index = path.startIndex
        while let slash = path[index...].dropFirst().firstIndex(of: "/") {
            _ = mkdir(String(path[..<slash]), 0o700)
            index = slash
        }
        _ = mkdir(path, 0o700)
    }

    /// The entries with their sizes, the one used longest ago first; leftovers of writers are removed.
    func scan() -> [(name: String, size: Int64)] {
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var found: [(name: String, size: Int64, used: timespec)] = []
        while let item = readdir(stream) {
            let name = withUnsafeBytes(of: item.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if Self.isTemporary(name) {
                _ = unlink("\(path)/\(name)")
                continue
            }
            var status = stat()
            guard Self.isName(name), lstat("\(path)/\(name)", &status) == 0,
                status.st_mode & S_IFMT == S_IFREG
            else { continue }
            found.append((name, Int64(status.st_size), status.st_mtim))
        }
        found.sort { ($0.used.tv_sec, $0.used.tv_nsec) < ($1.used.tv_sec, $1.used.tv_nsec) }
        return found.map { ($0.name, $0.size) }
    }

    /// The name of the file for a key: FNV-1a in 64 bits.
    ///
    /// Two keys that share a name push each other out, nothing worse: the file has its key in it.
    static func name(_ key: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in key.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits + nameSuffix
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// A name that no other process of this folder uses at the same time.
    func temporary(_ name: String) -> String { "\(path)/\(name).\(getpid())\(Self.temporarySuffix)" }

    private static let nameSuffix = ".response"
    private static let temporarySuffix = ".part"

    private static func isName(_ name: some StringProtocol) -> Bool {
        name.utf8.count == 16 + nameSuffix.utf8.count && name.hasSuffix(nameSuffix)
    }

    /// Whether it is one of ``temporary(_:)``: others' partial files may lie here as well.
    private static func isTemporary(_ name: String) -> Bool {
        guard name.hasSuffix(temporarySuffix) else { return false }
        let rest = name.dropLast(temporarySuffix.count)
        guard let dot = rest.lastIndex(of: "."), isName(rest[..<dot]) else { return false }
        let number = rest[dot...].dropFirst()
        return !number.isEmpty && number.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
