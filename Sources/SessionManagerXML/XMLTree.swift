// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// An XML document in memory: values, safe to hand on and to compare.
public struct XMLTree: Sendable, Equatable {
    /// The outermost element.
    public var root: Element

    /// What of a document is kept.
    public struct Options: Sendable, Equatable, Codable {
        /// Whether text that is nothing but blanks and line breaks is kept; false.
        public var keepsBlankText = false
        /// Whether comments and processing instructions inside the root are kept; false.
        public var keepsComments = false
        /// Whether ``Element/name`` has no prefix and ``Element/namespace`` is filled in; false.
        public var processesNamespaces = false

        /// The defaults.
        public init() {}
    }

    /// Reads a document.
    ///
    /// Nothing is fetched. A document's own entities are unknown, as are encodings but UTF-8, UTF-16, UTF-32,
    /// ISO-8859-1, windows-1252 and ASCII. More than 512 nested elements are refused.
    ///
    /// - Throws: an ``XMLTreeError`` with line and column.
    public init(parsing data: Data, options: Options = Options()) throws(XMLTreeError) {
        root = try XMLTreeBuilder.build(data, options: options)
    }

    /// An element with what is inside it.
    public struct Element: Sendable, Equatable {
        /// The name as it was written; without prefix where namespaces are processed.
        public var name: String
        /// The namespace's URI; nil where there is none or they are not processed.
        public var namespace: String?
        /// The attributes by name; of namespaces the prefix stays.
        public var attributes: [String: String]
        /// What is inside, in order.
        public var children: [Node]

        /// An element.
        public init(
            _ name: String, namespace: String? = nil, attributes: [String: String] = [:],
            children: [Node] = []
        ) {
            self.name = name
            self.namespace = namespace
            self.attributes = attributes
            self.children = children
        }
    }

    /// Something inside an element.
    public enum Node: Sendable, Equatable {
        /// A further element.
        case element(Element)
        /// Text, with character references and CDATA sections resolved.
        case text(String)
        /// A comment.
        case comment(String)
        /// A processing instruction.
        case instruction(target: String, content: String)
    }
}

extension XMLTree.Element {
    /// The elements directly inside.
    public var elements: [XMLTree.Element] {
        children.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    /// The first element of this name directly inside; nil where there is none.
    public func first(_ name: String) -> XMLTree.Element? {
        for case .element(let element) in children where element.name == name { return element }
        return nil
    }

    /// All text inside, also that of inner elements, in order.
    public var text: String {
        var result = ""
        for child in children {
            switch child {
            case .text(let text): result += text
            case .element(let element): result += element.text
            case .comment, .instruction: break
            }
        }
        return result
    }
}

/// Why a text is no XML that can be read, and where.
public struct XMLTreeError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, in a few words.
    public let reason: String
    /// The line of the fault, from 1; 0 where it is unknown.
    public let line: Int
    /// The column of the fault, from 1; 0 where it is unknown.
    public let column: Int

    /// The fault and its line.
    public var description: String { line > 0 ? "\(reason) at line \(line), column \(column)" : reason }
}
