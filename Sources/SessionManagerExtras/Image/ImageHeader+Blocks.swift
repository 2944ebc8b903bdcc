// SPDX-License-Identifier: Apache-2.0

import SessionCore

/// Formats that are a row of blocks, each with its length.
extension ImageHeader {
    /// The size of a PNG: its signature, and an IHDR of 13 bytes first.
    static func pngSize(_ bytes: Span<UInt8>, at start: Int) -> ImageHeader? {
        guard bytes.unsigned(at: start, size: 8) == 0x8950_4E47_0D0A_1A0A,
            bytes.unsigned(at: start + 8, size: 8) == 0x0000_000D_4948_4452,
            let width = bytes.unsigned(at: start + 16, size: 4), width < 1 << 31,
            let height = bytes.unsigned(at: start + 20, size: 4), height < 1 << 31
        else { return nil }
        return ImageHeader(.png, width: width, height: height)
    }

    /// PNG: an IHDR of 13 bytes first, an IDAT, an IEND, everything in between as long as it says.
    static func png(_ bytes: Span<UInt8>) -> ImageHeader? {
        guard let header = pngSize(bytes, at: 0) else { return nil }
        var offset = 8
        var hasContent = false
        while let length = bytes.unsigned(at: offset, size: 4),
            let type = bytes.unsigned(at: offset + 4, size: 4),
            Int(clamping: length) <= bytes.count - offset - 8 - 4
        {
            if type == 0x4945_4E44 { return hasContent ? header : nil }
            hasContent = hasContent || type == 0x4944_4154
            offset += 12 + Int(length)
        }
        return nil
    }

    /// JPEG: segments up to the start of the scan, among them one of those that have the size.
    static func jpeg(_ bytes: Span<UInt8>) -> ImageHeader? {
        var offset = 2
        var found: ImageHeader?
        while true {
            guard bytes.unsigned(at: offset, size: 1) == 0xFF else { return nil }
            // Any number of fill bytes may come before the marker.
            while bytes.unsigned(at: offset + 1, size: 1) == 0xFF { offset += 1 }
            guard let marker = bytes.unsigned(at: offset + 1, size: 1) else { return nil }
            offset += 2
            if marker == 0x01 || (0xD0...0xD8).contains(marker) { continue }
            guard marker != 0xD9, let length = bytes.unsigned(at: offset, size: 2), length >= 2,
                Int(length) <= bytes.count - offset
            else { return nil }
            switch marker {
            case 0xDA: return found
            case 0xC4, 0xC8, 0xCC: break
            case 0xC0...0xCF:
                guard length >= 8, let height = bytes.unsigned(at: offset + 3, size: 2),
                    let width = bytes.unsigned(at: offset + 5, size: 2)
                else { return nil }
                found = ImageHeader(.jpeg, width: width, height: height)
            default: break
            }
            offset += Int(length)
        }
    }

    /// GIF: blocks up to the end of the first picture.
    static func gif(_ bytes: Span<UInt8>) -> ImageHeader? {
        guard bytes.holds("GIF87a", at: 0) || bytes.holds("GIF89a", at: 0),
            let width = bytes.unsigned(at: 6, size: 2, littleEndian: true),
            let height = bytes.unsigned(at: 8, size: 2, littleEndian: true),
            let flags = bytes.unsigned(at: 10, size: 1)
        else { return nil }
        var offset = 13 + colors(flags)
        while let kind = bytes.unsigned(at: offset, size: 1) {
            switch kind {
            case 0x21: offset += 2
            case 0x2C:
                guard let flags = bytes.unsigned(at: offset + 9, size: 1),
                    skipSubBlocks(bytes, from: offset + 11 + colors(flags)) != nil
                else { return nil }
                return ImageHeader(.gif, width: width, height: height)
            default: return nil
            }
            guard let next = skipSubBlocks(bytes, from: offset) else { return nil }
            offset = next
        }
        return nil
    }

    /// The bytes of a table of colours.
    private static func colors(_ flags: UInt64) -> Int { flags & 0x80 == 0 ? 0 : 3 << Int(flags & 7 + 1) }

    private static func skipSubBlocks(_ bytes: Span<UInt8>, from start: Int) -> Int? {
        var offset = start
        while let length = bytes.unsigned(at: offset, size: 1) {
            offset += 1 + Int(length)
            if length == 0 { return offset }
        }
        return nil
    }

    /// WebP: a RIFF file with one of three kinds of first chunk (RFC 9649 §2).
    static func webp(_ bytes: Span<UInt8>) -> ImageHeader? {
        guard bytes.holds("WEBP", at: 8), let size = bytes.unsigned(at: 4, size: 4, littleEndian: true),
            size >= 12, Int(clamping: size) <= bytes.count - 8,
            let length = bytes.unsigned(at: 16, size: 4, littleEndian: true), length <= size - 12
        else { return nil }
        func field(_ offset: Int, _ size: Int) -> UInt64? {
            bytes.unsigned(at: offset, size: size, littleEndian: true)
        }
        switch bytes.unsigned(at: 12, size: 4) {
        case 0x5650_3820:
            guard length >= 10, bytes.unsigned(at: 23, size: 3) == 0x9D012A, let width = field(26, 2),
                let height = field(28, 2)
            else { return nil }
            return ImageHeader(.webp, width: width & 0x3FFF, height: height & 0x3FFF)
        case 0x5650_384C:
            guard length >= 5, field(20, 1) == 0x2F, let packed = field(21, 4) else { return nil }
            return ImageHeader(.webp, width: packed & 0x3FFF + 1, height: packed >> 14 & 0x3FFF + 1)
        case 0x5650_3858:
            guard length >= 10, let width = field(24, 3), let height = field(27, 3) else { return nil }
            return ImageHeader(.webp, width: width + 1, height: height + 1)
        default: return nil
        }
    }
}
