// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import SessionManager
import SessionManagerExtras
import TestSupport
import Testing

/// The serializers of this library among those of the others.
struct ExtrasCompositionTests {
    private struct Thing: Codable, Equatable { var count: Int }

    @Test("AF-118 the first serializer that makes an object wins, an image among them")
    func compound() throws {
        let compound = CompoundResponseSerializer([ImageResponseSerializer(), JSONResponseSerializer()])
        let image = compound.serialize(TestImage.png, response: try head(type: "image/png"))
        #expect((image.value as? ImageDescription)?.format == .png)
        let json = compound.serialize(Data(text: #"{"a":1}"#), response: try head(type: "application/json"))
        #expect(json.value as? JSONValue == ["a": 1])
    }

    @Test("by its head alone a response is refused for its status, never for content that has not come")
    func heads() throws {
        let serializers: [any ResponseSerializer] = [
            ImageResponseSerializer(), PropertyListResponseSerializer(),
        ]
        for serializer in serializers {
            #expect(serializer.refusal(of: try head(200, type: "text/html")) == nil)
            #expect(serializer.refusal(of: try head(404))?.code == .badServerResponse)
        }
    }

    @Test("they are stored with the others, and read by a decoder that knows them")
    func stored() throws {
        let compound = CompoundResponseSerializer([
            ImageResponseSerializer(), PropertyListResponseSerializer(formats: [.xml]),
            HTTPResponseSerializer(),
        ])
        let stored = try JSONEncoder().encode(compound)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(CompoundResponseSerializer.self, from: stored)
        }
        let decoder = JSONDecoder()
        decoder.userInfo[.storableSerializers] =
            [
                PropertyListRequestSerializer.self, PropertyListResponseSerializer.self,
                ImageResponseSerializer.self,
            ]
            as [any StorableSerializer.Type]
        let read = try decoder.decode(CompoundResponseSerializer.self, from: stored)
        #expect(read.serializers.count == 3)
        #expect(read.serializers[0] as? ImageResponseSerializer == ImageResponseSerializer())
        #expect((read.serializers[1] as? PropertyListResponseSerializer)?.formats == [.xml])
        let settings = HTTPSessionManager.Settings(
            requestSerializer: PropertyListRequestSerializer(format: .binary))
        let again = try decoder.decode(
            HTTPSessionManager.Settings.self, from: JSONEncoder().encode(settings))
        #expect((again.requestSerializer as? PropertyListRequestSerializer)?.format == .binary)
    }

    @Test("a type of one's own is decoded from a property list")
    func decodable() throws {
        let response = try head(type: "application/json")
        let plist = DecodableResponseSerializer(
            Thing.self, validation: ResponseValidation(), decoder: PropertyListContentDecoder())
        #expect(
            plist.serialize(Data(text: "{count=3;}"), response: response).error?.code == .cannotParseResponse)
        let document = Data(text: "<plist><dict><key>count</key><integer>3</integer></dict></plist>")
        #expect(plist.serialize(document, response: response).value == Thing(count: 3))
    }
}
