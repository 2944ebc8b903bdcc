// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import SessionCore

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
