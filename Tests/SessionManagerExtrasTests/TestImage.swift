// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import SessionManagerExtras
import TestSupport
import Testing

/// A small image with what has to be found in it.
struct TestImage: Sendable, CustomTestStringConvertible {
    var format: ImageFormat
    var width: Int
    var height: Int
    var data: Data
    /// How many bytes have to be there to recognise it.
    var needed: Int

    var testDescription: String { "\(format) \(width)×\(height)" }

    static let all: [TestImage] = [
        TestImage(format: .png, width: 5, height: 1 << 20, data: png, needed: png.count),
        TestImage(format: .jpeg, width: 640, height: 480, data: jpeg, needed: jpeg.count - 4),
        TestImage(format: .gif, width: 300, height: 2, data: gif, needed: gif.count - 1),
        TestImage(format: .tiff, width: 7, height: 70_000, data: tiff, needed: tiff.count),
        TestImage(format: .tiff, width: 7, height: 9, data: bigEndianTIFF, needed: bigEndianTIFF.count),
        TestImage(format: .ico, width: 256, height: 256, data: ico, needed: ico.count),
        TestImage(format: .bmp, width: 3, height: 2, data: bmp, needed: bmp.count),
        TestImage(format: .xbm, width: 9, height: 2, data: xbm, needed: xbm.count - 2),
        TestImage(
            format: .webp, width: 16, height: 12,
            data: webp("VP8 ", [0, 0, 0, 0x9D, 0x01, 0x2A, 16, 0, 12, 0]), needed: 30),
        TestImage(
            format: .webp, width: 16_384, height: 2, data: webp("VP8L", [0x2F, 0xFF, 0x7F, 0, 0, 0]),
            needed: 26),
        TestImage(
            format: .webp, width: 1 << 24, height: 1,
            data: webp("VP8X", [0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0, 0, 0]), needed: 30),
    ]

    // Joined as an array, since Swift 6.2 gives up on the types of so long a sum.
    static let png: Data = [
        Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]), Data(text: "IHDR"),
        Data([0, 0, 0, 5, 0, 16, 0, 0, 8, 2, 0, 0, 0, 1, 2, 3, 4]),
        Data([0, 0, 0, 1]), Data(text: "IDAT"), Data([0, 1, 2, 3, 4]),
        Data([0, 0, 0, 0]), Data(text: "IEND"), Data([0xAE, 0x42, 0x60, 0x82]),
    ].reduce(Data(), +)

    static let jpeg = Data([
        0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xFF, 0xC4, 0, 3, 9, 0xFF, 0xC2, 0, 11, 8, 0x01, 0xE0, 0x02,
        0x80, 1, 1, 0x11, 0,
        0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 1, 2, 0xFF, 0xD9,
    ])

    static let gif =
        Data(text: "GIF89a") + Data([0x2C, 0x01, 2, 0, 0x80, 0, 0, 1, 2, 3, 4, 5, 6])
        + Data([0x21, 0xF9, 4, 0, 0, 0, 0, 0])
        + Data([0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x4C, 1, 0, 0x3B])

    static let tiff =
        Data([0x49, 0x49, 42, 0, 8, 0, 0, 0, 2, 0])
        + Data([0, 1, 3, 0, 1, 0, 0, 0, 7, 0, 0, 0]) + Data([1, 1, 4, 0, 1, 0, 0, 0, 0x70, 0x11, 1, 0])

    static let bigEndianTIFF =
        Data([0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 2])
        + Data([1, 0, 0, 3, 0, 0, 0, 1, 0, 7, 0, 0]) + Data([1, 1, 0, 3, 0, 0, 0, 1, 0, 9, 0, 0])

    static let ico =
        Data([0, 0, 1, 0, 2, 0]) + Data([16, 16, 0, 0, 1, 0, 32, 0, 40, 0, 0, 0, 38, 0, 0, 0])
        + Data([0, 0, 0, 0, 1, 0, 32, 0, 40, 0, 0, 0, 78, 0, 0, 0]) + Data(count: 80)

    static let bmp =
        Data(text: "BM") + Data([78, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0])
        + Data([40, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 24, 0]) + Data(count: 24) + Data(count: 24)

    static let xbm = Data(
        text: """
            /* a picture */
            #define cross_width 9
            #define cross_height 2
            static unsigned char cross_bits[] = {
              0x01, 0x00, 0xff, 0x01};

            """)

    static func webp(_ kind: String, _ content: [UInt8]) -> Data {
        let size = UInt8(12 + content.count)
        return Data(text: "RIFF") + Data([size, 0, 0, 0]) + Data(text: "WEBP" + kind)
            + Data([UInt8(content.count), 0, 0, 0]) + Data(content)
    }
}
