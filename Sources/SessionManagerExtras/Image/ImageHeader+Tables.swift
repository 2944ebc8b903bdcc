// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

/// Formats whose header says where the rest is.
extension ImageHeader {
    /// TIFF: the first directory has width (256) and height (257).
    static func tiff(_ bytes: Span<UInt8>, littleEndian: Bool) -> ImageHeader? {
        func field(_ offset: Int, _ size: Int) -> UInt64? {
            bytes.unsigned(at: offset, size: size, littleEndian: littleEndian)
        }
        guard let offset = field(4, 4), offset >= 8, let count = field(Int(clamping: offset), 2),
            Int(count) * 12 <= bytes.count - Int(offset) - 2
        else { return nil }
        var sizes: [UInt64: UInt64] = [:]
        for index in 0..<Int(count) {
            let entry = Int(offset) + 2 + index * 12
            guard let tag = field(entry, 2), tag == 256 || tag == 257, let type = field(entry + 2, 2),
                type == 3 || type == 4
            else { continue }
            sizes[tag] = field(entry + 8, type == 3 ? 2 : 4)
        }
        guard let width = sizes[256], let height = sizes[257] else { return nil }
        return ImageHeader(.tiff, width: width, height: height)
    }

    /// ICO: a table of pictures, each wholly in the file; the greatest counts.
    static func ico(_ bytes: Span<UInt8>) -> ImageHeader? {
        func field(_ offset: Int, _ size: Int) -> UInt64? {
            bytes.unsigned(at: offset, size: size, littleEndian: true)
        }
        guard let count = field(4, 2), count > 0, bytes.count >= 6 + 16 * Int(count) else { return nil }
        var greatest: ImageHeader?
        for index in 0..<Int(count) {
            let entry = 6 + 16 * index
            guard let width = field(entry, 1), let height = field(entry + 1, 1),
                let length = field(entry + 8, 4), let start = field(entry + 12, 4), length >= 40,
                start >= UInt64(6 + 16 * Int(count)), start + length <= UInt64(bytes.count)
            else { return nil }
            // A byte cannot hold 256: it is written as 0. A PNG inside knows better; only its head is read,
            // since any number of entries may name the same one.
            let picture =
                pngSize(bytes, at: Int(start))
                ?? ImageHeader(.ico, width: width == 0 ? 256 : width, height: height == 0 ? 256 : height)
            if picture.width > greatest?.width ?? 0 {
                greatest = ImageHeader(.ico, width: picture.width, height: picture.height)
            }
        }
        return greatest
    }

    /// BMP: an uncompressed picture has to be there wholly.
    static func bmp(_ bytes: Span<UInt8>, at header: Int) -> ImageHeader? {
        func field(_ offset: Int, _ size: Int) -> UInt64? {
            bytes.unsigned(at: offset, size: size, littleEndian: true)
        }
        guard let pixels = field(10, 4), pixels <= UInt64(bytes.count), let length = field(header, 4) else {
            return nil
        }
        var found: ImageHeader
        var depth: UInt64?
        var isPlain = true
        if length == 12 {
            guard let width = field(header + 4, 2), let height = field(header + 6, 2) else { return nil }
            found = ImageHeader(.bmp, width: width, height: height)
            depth = field(header + 10, 2)
        } else {
            guard length >= 40, pixels >= UInt64(header) + length, let width = field(header + 4, 4),
                width < 1 << 31, let height = field(header + 8, 4), let compression = field(header + 16, 4)
            else { return nil }
            // A negative height means that the topmost line comes first.
            let signed = Int32(truncatingIfNeeded: height)
            found = ImageHeader(.bmp, width: width, height: UInt64(signed.magnitude))
            depth = field(header + 14, 2)
            isPlain = compression == 0 || compression == 3 || compression == 6
        }
        guard let depth, [1, 2, 4, 8, 16, 24, 32].contains(depth) || (!isPlain && depth == 0) else {
            return nil
        }
        guard isPlain else { return found }
        let line = (UInt64(found.width) * depth + 31) / 32 * 4
        let (size, overflows) = line.multipliedReportingOverflow(by: UInt64(found.height))
        return !overflows && size <= UInt64(bytes.count) - pixels ? found : nil
    }

    /// XBM: C source that defines a width and a height, and then the bits in braces.
    static func xbm(_ bytes: Span<UInt8>) -> ImageHeader? {
        var sizes: [String: Int] = [:]
        var offset = 0
        // Comments and definitions are few; what follows them may be long.
        let end = min(bytes.count, 4096)
        while offset < end {
            let lineEnd = min(bytes.firstOffset(of: 0x0A, from: offset) ?? bytes.count, bytes.count)
            guard lineEnd - offset <= 1024 || !sizes.isEmpty else { return nil }
            let start = bytes.extracting(offset..<min(lineEnd, offset + 1024))
            let line = String(decoding: Data(copying: start), as: UTF8.self)
            let words = line.split { $0 == " " || $0 == "\t" || $0 == "\r" }
            if words.count == 3, words[0] == "#define", let number = Int(words[2]) {
                for name in ["width", "height"] where words[1] == name || words[1].hasSuffix("_" + name) {
                    sizes[name] = number
                }
            } else if line.contains("bits") && line.contains("[") {
                break
            }
            offset = lineEnd + 1
        }
        guard offset < end, let width = sizes["width"], let height = sizes["height"], width > 0, height > 0,
            width <= 1 << 16, height <= 1 << 16,
            let brace = bytes.firstOffset(of: UInt8(ascii: "{"), from: offset)
        else { return nil }
        // A byte has at least `0x0,`, the last one no comma.
        let close = bytes.firstOffset(of: UInt8(ascii: "}"), from: brace) ?? brace
        return (close - brace) / 4 >= (width + 7) / 8 * height
            ? ImageHeader(.xbm, width: width, height: height) : nil
    }
}
