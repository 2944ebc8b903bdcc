// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import FoundationXML
import SessionCore

/// Puts a tree together from the parser's events; used once, by one thread.
///
/// Foundation's parser takes a document that ends too early for well-formed, ignores what follows the root,
/// and puts nothing where a document's own entity stands. So it is given the root inside an element of ours,
/// without the document type: then all three are errors.
final class XMLTreeBuilder: XMLParserDelegate {
    /// Deeper trees could not be released without a deep stack.
    private static let maximumDepth = 512

    private let options: XMLTree.Options
    /// The open elements; ours is the first.
    private var open: [XMLTree.Element] = []
    private var wrapper: XMLTree.Element?
    private var text = ""
    private var failure: XMLTreeError?

    private init(_ options: XMLTree.Options) { self.options = options }

    static func build(_ data: Data, options: XMLTree.Options) throws(XMLTreeError) -> XMLTree.Element {
        let parser = XMLEventSource.makeParser(
            try wrapped(data), processesNamespaces: options.processesNamespaces)
        let builder = XMLTreeBuilder(options)
        parser.delegate = builder
        let isWellFormed = parser.parse()
        parser.delegate = nil
        if let failure = builder.failure { throw failure }
        guard isWellFormed, let root = builder.wrapper?.elements.first else {
            throw builder.fault(parser, "the document is malformed")
        }
        return root
    }

    /// The root inside an element whose name is not known beforehand.
    private static func wrapped(_ data: Data) throws(XMLTreeError) -> Data {
        let text: Data
        do throws(XMLTextError) {
            text = try XMLText.prepared(data)
        } catch {
            throw XMLTreeError(reason: error.reason, line: 0, column: 0)
        }
        let name = "r\(UInt64.random(in: .min ... .max))"
        var document = Data("<\(name)>".utf8)
        document.append(text)
        document.append(contentsOf: "</\(name)>".utf8)
        return document
    }

    private func fault(_ parser: XMLParser, _ reason: String) -> XMLTreeError {
        XMLTreeError(reason: reason, line: parser.lineNumber, column: parser.columnNumber)
    }

    private func fail(_ parser: XMLParser, _ reason: String) {
        guard failure == nil else { return }
        failure = fault(parser, reason)
        parser.abortParsing()
    }

    private func add(_ node: XMLTree.Node) {
        guard !open.isEmpty else { return }
        open[open.count - 1].children.append(node)
    }

    private func endText(_ parser: XMLParser) {
        defer { text = "" }
        let isBlank = text.utf8.allSatisfy { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        if open.count == 1 {
            if !isBlank { fail(parser, "text stands outside of the outermost element") }
        } else if !text.isEmpty, options.keepsBlankText || !isBlank {
            add(.text(text))
        }
    }

    // MARK: Events

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?,
        qualifiedName: String?, attributes: [String: String]
    ) {
        endText(parser)
        guard failure == nil else { return }
        guard open.count <= Self.maximumDepth else { return fail(parser, "too many elements are nested") }
        if open.count == 1, !open[0].elements.isEmpty {
            return fail(parser, "something follows the outermost element")
        }
        let namespace = namespaceURI.flatMap { $0.isEmpty ? nil : $0 }
        open.append(XMLTree.Element(elementName, namespace: namespace, attributes: attributes))
    }

    func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?
    ) {
        endText(parser)
        guard failure == nil, let element = open.popLast() else { return }
        if open.isEmpty { wrapper = element } else { add(.element(element)) }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        guard let section = String(validating: block, as: UTF8.self) else {
            return fail(parser, "a CDATA section is no UTF-8")
        }
        text += section
    }

    func parser(_ parser: XMLParser, foundComment comment: String) {
        guard options.keepsComments else { return }
        endText(parser)
        add(.comment(comment))
    }

    func parser(_ parser: XMLParser, foundProcessingInstructionWithTarget target: String, data: String?) {
        guard options.keepsComments else { return }
        endText(parser)
        add(.instruction(target: target, content: data ?? ""))
    }

    // The parser calls some faults a success in the end.
    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
        fail(parser, "the document is malformed")
    }
}
