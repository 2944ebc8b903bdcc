// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import FoundationXML
import SessionCore

/// An XML document that has not been read yet, for reading in events.
///
/// It can be handed to any thread; the parser that it makes belongs to the thread that asked for it.
public struct XMLEventSource: Sendable, Equatable {
    /// The document, which may be malformed.
    public let data: Data
    /// Whether the parser reports namespaces and qualified names apart.
    public let processesNamespaces: Bool

    /// A document.
    public init(data: Data, processesNamespaces: Bool = false) {
        self.data = data
        self.processesNamespaces = processesNamespaces
    }

    /// A parser that has not been started: set its `delegate`, call `parse()`, look at `parserError` too.
    ///
    /// What stands before the outermost element is not reported, and a document's own entities are unknown:
    /// declarations crash this parser or mislead it. It never fetches anything. Mind that it takes a document
    /// that ends too early for well-formed, and ignores what follows the outermost element;
    /// `XMLDocumentResponseSerializer` refuses both. A document that is no text in UTF-8, UTF-16, UTF-32,
    /// ISO-8859-1, windows-1252 or ASCII, or has no element, is malformed.
    public func makeParser() -> XMLParser {
        // A lone end is what no parser takes.
        let text = (try? XMLText.prepared(data)) ?? Data("</a>".utf8)
        return Self.makeParser(text, processesNamespaces: processesNamespaces)
    }

    /// A parser over a text that has been prepared for it.
    static func makeParser(_ text: Data, processesNamespaces: Bool) -> XMLParser {
        let parser = XMLParser(data: text)
        parser.shouldProcessNamespaces = processesNamespaces
        parser.shouldReportNamespacePrefixes = false
        parser.shouldResolveExternalEntities = false
        return parser
    }
}
