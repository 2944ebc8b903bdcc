// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import SessionManagerExtras
import TestSupport
import Testing

struct ImageResponseTests {
    private let serializer = ImageResponseSerializer()

    @Test(
        "AF-117 every type of image is accepted",
        arguments: [
            "image/tiff", "image/jpeg", "image/gif", "image/png", "image/ico", "image/x-icon", "image/bmp",
            "image/x-bmp",
            "image/x-xbitmap", "image/x-win-bitmap", "image/webp",
        ])
    func types(_ type: String) throws {
        let result = serializer.serialize(TestImage.png, response: try head(type: type))
        #expect(result.error == nil)
        #expect(result.value?.format == .png)
        #expect(result.value?.data == TestImage.png)
    }

    @Test("AF-117 no content is no object; garbage is no object and an error")
    func garbage() throws {
        let empty = serializer.serialize(Data(), response: try head(type: "image/png"))
        #expect(empty.value == nil)
        #expect(empty.error == nil)
        let result = serializer.serialize(Data(text: "garbage"), response: try head(type: "image/png"))
        #expect(result.value == nil)
        #expect(result.error?.code == .cannotParseResponse)
        let other = serializer.serialize(TestImage.png, response: try head(type: "text/html"))
        #expect(other.error?.code == .cannotDecodeContentData)
    }

    @Test("format and size of every format", arguments: TestImage.all)
    func sizes(_ image: TestImage) throws {
        let found = try #require(ImageDescription(recognizing: image.data))
        #expect(found.format == image.format)
        #expect([found.width, found.height] == [image.width, image.height])
    }

    @Test("of a PNG in an icon only the head is read, however often it is named", .timeLimit(.minutes(10)))
    func icon() {
        var head = TestImage.png.prefix(33)
        head.replaceSubrange(16..<24, with: [0, 0, 1, 44, 0, 0, 0, 200])
        // As many chunks without content as there is room for, and no end.
        let picture =
            head + Data((0..<80_000).flatMap { _ in [0, 0, 0, 0, 0x74, 0x45, 0x58, 0x74, 0, 0, 0, 0] })
        let count = 65_535
        let start = 6 + 16 * count
        let entry = [16, 16, 0, 0, 1, 0, 32, 0] + littleEndian(picture.count) + littleEndian(start)
        var data = Data([0, 0, 1, 0, 0xFF, 0xFF])
        for _ in 0..<count { data += entry }
        data += picture
        let found = ImageDescription(recognizing: data)
        #expect(found?.format == .ico)
        #expect([found?.width, found?.height] == [300, 200])
    }

    private func littleEndian(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    @Test("a file that ends before what its header announces is no image", arguments: TestImage.all)
    func cut(_ image: TestImage) {
        for length in 0..<image.needed {
            #expect(ImageDescription(recognizing: image.data.prefix(length)) == nil, "\(length) bytes")
        }
        #expect(ImageDescription(recognizing: image.data.prefix(image.needed)) != nil)
    }

    @Test(
        "every byte of every image replaced: nothing traps, and what is found has a size",
        arguments: TestImage.all)
    func damaged(_ image: TestImage) {
        for index in image.data.indices {
            for byte: UInt8 in [0x00, 0x01, 0x7F, 0x80, 0xFF] {
                var data = image.data
                data[index] = byte
                guard let found = ImageDescription(recognizing: data) else { continue }
                #expect(found.width > 0 && found.height > 0)
            }
        }
    }

    @Test("the height of a bitmap may be negative; sizes beyond the file are lies")
    func bitmaps() throws {
        var data = TestImage.bmp
        data.replaceSubrange(22..<26, with: [0xFE, 0xFF, 0xFF, 0xFF])
        #expect(ImageDescription(recognizing: data)?.height == 2)
        data.replaceSubrange(22..<26, with: [0, 0, 0, 0x80])
        #expect(ImageDescription(recognizing: data) == nil)
        data.replaceSubrange(18..<22, with: [0xFF, 0xFF, 0xFF, 0x7F])
        #expect(ImageDescription(recognizing: data) == nil)
    }

    @Test("a PNG without content is no image")
    func emptyPNG() {
        let data = TestImage.png.prefix(33) + TestImage.png.suffix(12)
        #expect(ImageDescription(recognizing: Data(data)) == nil)
    }
}
