// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManagerExtras
import SessionManagerXML

/// One input of the fuzzer: a response's content, for all serializers, and its header block as well.
///
/// Any input is refused or decoded, and decoded values survive being written and read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSerializers(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let data = Data(UnsafeBufferPointer(start: start, count: count))
    readJSON(data)
    readPropertyList(data)
    if let image = ImageDescription(recognizing: data) { precondition(image.width > 0 && image.height > 0) }
    for encoding in TextEncoding.allCases { _ = encoding.decode(data) }
    _ = try? XMLTree(parsing: data)
    judge(data)
    return 0
}

private func readJSON(_ data: Data) {
    guard let value = try? JSONValue(parsing: data) else { return }
    _ = value.removingNulls()
    guard let written = try? value.data(), let again = try? JSONValue(parsing: written) else {
        preconditionFailure("what was read as JSON cannot be written and read again")
    }
    precondition(again == value, "a document changed when it was written and read again")
}

private func readPropertyList(_ data: Data) {
    let serializer = PropertyListResponseSerializer(validation: ResponseValidation(contentTypes: nil))
    let result = serializer.serialize(data, response: nil)
    precondition(data.isEmpty || (result.value == nil) == (result.error != nil))
}

private func judge(_ data: Data) {
    guard let url = try? SessionRequest("http://192.0.2.1/").url else { return }
    let response = SessionResponse(
        url: url, statusCode: 200, version: .http1_1, headerBlock: Array(data), requestMethod: .get)
    let result = CompoundResponseSerializer([
        JSONResponseSerializer(),
        StringResponseSerializer(validation: ResponseValidation(contentTypes: ["text/*"])),
    ]).serialize(data, response: response)
    // Error messages are one line, whatever a server sends.
    if let text = result.error?.description {
        precondition(text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
    }
}
