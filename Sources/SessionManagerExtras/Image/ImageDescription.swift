// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import SessionCore

/// A format of images.
public enum ImageFormat: String, Sendable, Codable, CaseIterable {
    /// Portable Network Graphics (ISO/IEC 15948).
    case png
    /// JPEG (ITU-T T.81).
    case jpeg
    /// Graphics Interchange Format (GIF87a, GIF89a).
    case gif
    /// Tagged Image File Format, revision 6.
    case tiff
    /// Windows icon: several images, of which the greatest counts.
    case ico
    /// Windows bitmap.
    case bmp
    /// X bitmap: C source.
    case xbm
    /// WebP (RFC 9649).
    case webp
}

/// An image that has been recognised and not decoded.
public struct ImageDescription: Sendable, Equatable {
    /// The format, by the bytes.
    public let format: ImageFormat
    /// The width in pixels, at least 1.
    public let width: Int
    /// The height in pixels, at least 1.
    public let height: Int
    /// The file.
    public let data: Data

    /// Looks at the beginning of a file, and at what its size fields promise.
    ///
    /// Nil where no format fits, where a size is 0, and where the file ends before what its header announces:
    /// as far as that shows without decoding, a file that is cut off is no image.
    public init?(recognizing data: Data) {
        let bytes = data.span
        guard let found = ImageHeader(recognizing: bytes), found.width > 0, found.height > 0 else {
            return nil
        }
        format = found.format
        width = found.width
        height = found.height
        self.data = data
    }
}

/// What the header of an image says.
struct ImageHeader: Equatable {
    var format: ImageFormat
    var width: Int
    var height: Int

    init(_ format: ImageFormat, width: Int, height: Int) {
        self.format = format
        self.width = width
        self.height = height
    }

    init(_ format: ImageFormat, width: UInt64, height: UInt64) {
        self.init(format, width: Int(clamping: width), height: Int(clamping: height))
    }

    init?(recognizing bytes: Span<UInt8>) {
        let header: ImageHeader? =
            switch bytes.unsigned(at: 0, size: 4) {
            case 0x8950_4E47: Self.png(bytes)
            case let start? where start >> 8 == 0xFFD8FF: Self.jpeg(bytes)
            case 0x4749_4638: Self.gif(bytes)
            case 0x4949_2A00: Self.tiff(bytes, littleEndian: true)
            case 0x4D4D_002A: Self.tiff(bytes, littleEndian: false)
            case 0x0000_0100: Self.ico(bytes)
            case 0x5249_4646: Self.webp(bytes)
            case let start? where start >> 16 == 0x424D: Self.bmp(bytes, at: 14)
            default: Self.xbm(bytes)
            }
        guard let header else { return nil }
        self = header
    }
}

/// Recognises images: format and size, without decoding pixels.
///
/// The bytes decide, not the type that the server names. No content is no object and no error.
public struct ImageResponseSerializer: ValidatingResponseSerializer, Equatable, Codable {
    /// Which responses are acceptable; the types of the formats in ``ImageFormat`` unless said.
    public var validation: ResponseValidation

    /// A serializer.
    public init(
        validation: ResponseValidation = ResponseValidation(contentTypes: [
            "image/tiff", "image/jpeg", "image/gif", "image/png", "image/ico", "image/x-icon", "image/bmp",
            "image/x-bmp", "image/x-xbitmap", "image/x-win-bitmap", "image/webp", "image/vnd.microsoft.icon",
        ])
    ) { self.validation = validation }

    /// The image; nil for empty content.
    public func decode(_ data: Data?, response: SessionResponse?) throws(SessionError) -> ImageDescription? {
        guard let data, !data.isEmpty else { return nil }
        guard let image = ImageDescription(recognizing: data) else {
            throw .unreadable("the content is no image of a known format, or is cut off")
        }
        return image
    }
}

extension ImageResponseSerializer: StorableSerializer {
    /// The name in what is stored.
    public static var storedName: String { "image" }
}
