// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import FoundationXML
import SessionManagerXML
import Testing

struct XMLResponseTests {
    private func head(_ type: String, status: Int = 200) throws -> SessionResponse {
        SessionResponse(
            url: try SessionRequest("http://192.0.2.1/").url, statusCode: status, version: .http1_1,
            headerBlock: Array("Content-Type: \(type)\r\n".utf8))
    }

    private func serialize(
        _ text: String, options: XMLTree.Options = XMLTree.Options()
    ) throws -> SerializedResponse<XMLTree> {
        XMLDocumentResponseSerializer(options: options)
            .serialize(Data(text.utf8), response: try head("text/xml"))
    }

    @Test("AF-114 an unstarted parser for the types of XML", arguments: ["application/xml", "text/xml"])
    func unstarted(_ type: String) throws {
        let result = XMLParserResponseSerializer().serialize(
            Data("<a><b/></a>".utf8), response: try head(type))
        #expect(result.error == nil)
        let counter = ElementCounter()
        let parser = try #require(result.value).makeParser()
        parser.delegate = counter
        #expect(counter.count == 0)
        #expect(parser.parse())
        #expect(counter.count == 2)
    }

    @Test("AF-114 another type is refused; what is malformed shows only when the parser is started")
    func refused() throws {
        let serializer = XMLParserResponseSerializer()
        let other = serializer.serialize(Data("<a/>".utf8), response: try head("nonstandard/xml"))
        #expect(other.value == nil)
        #expect(other.error?.code == .cannotDecodeContentData)
        let malformed = serializer.serialize(Data("<a><b></a>".utf8), response: try head("text/xml"))
        #expect(malformed.error == nil)
        let parser = try #require(malformed.value).makeParser()
        #expect(parser.parserError == nil)
        _ = parser.parse()
        #expect(parser.parserError != nil)
    }

    @Test("a document is read into a tree")
    func tree() throws {
        let text = """
            <?xml version="1.0"?><!DOCTYPE a>
            <a x="1&amp;2">
              <b>t&#xFC;<![CDATA[<&]]></b><!--c--><?p q?>
            </a>
            """
        let inner = XMLTree.Node.element(.init("b", children: [.text("tü<&")]))
        #expect(try serialize(text).value?.root == .init("a", attributes: ["x": "1&2"], children: [inner]))
        var options = XMLTree.Options()
        options.keepsBlankText = true
        options.keepsComments = true
        let whole = try serialize(text, options: options).value?.root
        #expect(
            whole?.children
                == [
                    .text("\n  "), inner, .comment("c"), .instruction(target: "p", content: "q"), .text("\n"),
                ])
        #expect(whole?.first("b")?.text == "tü<&")
        #expect(whole?.elements.count == 1)
    }

    @Test("an unstarted parser tells of namespaces where that is wanted")
    func parserNamespaces() throws {
        let text = #"<p:a xmlns:p="urn:one" xmlns="urn:two"><b/><p:d xmlns:p="urn:three"/></p:a>"#
        for isWanted in [true, false] {
            let serializer = XMLParserResponseSerializer(processesNamespaces: isWanted)
            let source = try #require(
                serializer.serialize(Data(text.utf8), response: try head("text/xml")).value)
            let (parser, counter) = (source.makeParser(), ElementCounter())
            parser.delegate = counter
            #expect(parser.parse())
            #expect(counter.names == (isWanted ? ["a", "b", "d"] : ["p:a", "b", "p:d"]))
        }
    }

    @Test("comments and instructions may surround the root; encodings are read")
    func surroundings() throws {
        let text =
            "<?xml version='1.0'?><!-- <b> --><!DOCTYPE a [<!-- ] > --> <!ELEMENT a ANY>]><?p?><a/><!--x--> <?q?>\n"
        #expect(try serialize(text).value?.root == .init("a"))
        let latin = Data("<?xml version='1.0' encoding='ISO-8859-1'?><a>".utf8) + [0xFC] + Data("</a>".utf8)
        #expect(try XMLTree(parsing: latin).root.text == "ü")
        #expect(throws: XMLTreeError.self) {
            try XMLTree(parsing: Data("<a>".utf8) + [0xFC] + Data("</a>".utf8))
        }
    }

    @Test(
        "an instruction without content, which Foundation's parser traps over, is harmless in both serializers"
    )
    func emptyInstruction() throws {
        let text = "<?p?><a><?q?><![CDATA[<?q?>]]><!--<?q?>--></a><?r?>"
        #expect(try serialize(text).value?.root.text == "<?q?>")
        var options = XMLTree.Options()
        options.keepsComments = true
        #expect(
            try serialize(text, options: options).value?.root.children
                == [.instruction(target: "q", content: ""), .text("<?q?>"), .comment("<?q?>")])
        let source = XMLEventSource(data: Data(text.utf8))
        #expect(source.makeParser().parse())
        let declared = "<!DOCTYPE a [<!NOTATION n SYSTEM 'x'><!ENTITY e SYSTEM 'y' NDATA n><?q?>]><a/>"
        #expect(XMLEventSource(data: Data(declared.utf8)).makeParser().parse())
        #expect(!XMLEventSource(data: Data(" ".utf8)).makeParser().parse())
    }

    @Test("namespaces are told where asked for")
    func namespaces() throws {
        let text = #"<n:a xmlns:n="urn:x"><b/></n:a>"#
        #expect(try serialize(text).value?.root.name == "n:a")
        var options = XMLTree.Options()
        options.processesNamespaces = true
        let root = try serialize(text, options: options).value?.root
        #expect(root?.name == "a")
        #expect(root?.namespace == "urn:x")
        #expect(root?.first("b")?.namespace == nil)
    }

    @Test(
        "what is no XML is an error",
        arguments: [
            "<a><b></a>", "<a>", "<a", " ", "x", "<a/><b/>", "<a>\u{1}</a>", "{}", "<a b=1/>",
            "<a>&nbsp;</a>",
            "<a/>x", "<a/><!-- ", "<a></a></b>", "<a/>\0", "<!DOCTYPE a [", "<!--",
            "<?xml version='1.0' encoding='koi8-r'?><a/>",
        ])
    func malformed(_ text: String) throws {
        let result = try serialize(text)
        #expect(result.value == nil)
        #expect(result.error?.code == .cannotParseResponse)
        #expect(result.error?.data == Data(text.utf8))
    }

    @Test(
        "entities of the document's own are refused, files are never read",
        arguments: [
            "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/hostname'>]><a>&x;</a>",
            "<!DOCTYPE a [<!ENTITY x 'y'><!ENTITY z '&x;&x;&x;'>]><a>&z;</a>",
        ])
    func entities(_ text: String) throws {
        let result = try serialize(text)
        #expect(result.value == nil)
        #expect(result.error?.code == .cannotParseResponse)
    }

    @Test("512 levels are read, 513 and a hundred thousand are refused")
    func depth() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "<a>", count: levels) + String(repeating: "</a>", count: levels)
        }
        #expect(try serialize(nested(512)).value != nil)
        for levels in [513, 100_000] {
            #expect(try serialize(nested(levels)).error?.code == .cannotParseResponse)
        }
    }

    @Test("no content is no object and no error; serializers are stored and read with their options")
    func emptyAndArchived() throws {
        #expect(try serialize("").error == nil)
        var serializer = XMLDocumentResponseSerializer()
        serializer.options.keepsComments = true
        serializer.acceptableContentTypes?.insert("application/atom+xml")
        let stored = try JSONEncoder().encode(serializer)
        #expect(try JSONDecoder().decode(XMLDocumentResponseSerializer.self, from: stored) == serializer)
    }
}

private final class ElementCounter: XMLParserDelegate {
    var names: [String] = []
    var count: Int { names.count }
    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?,
        qualifiedName: String?, attributes: [String: String]
    ) { names.append(elementName) }
}
