#if Gateway
import CGumbo

/// The elements of a page, as a parser of HTML that builds the whole tree finds them.
struct ParsedPage {
    struct Element: Equatable {
        let name: String
        var attributes: [Attribute]
        /// The text of a `style` element.
        var style: String?
    }

    struct Attribute: Equatable {
        let name: String
        let value: String
    }

    /// In the order of the page, without those in `noscript`, whose content is text for browsers that run scripts.
    private(set) var elements: [Element] = []
    /// The text outside of `style` elements.
    private(set) var text = ""

    /// Parses a page in UTF-8.
    init(_ page: [UInt8]) {
        page.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
            var options = kGumboDefaultOptions
            options.max_errors = 0
            guard let output = gumbo_parse_with_options(&options, start, bytes.count) else { return }
            defer { gumbo_destroy_output(&options, output) }
            if let document = output.pointee.document { add(document.pointee.v.document.children, isStyle: false) }
        }
    }

    private mutating func add(_ children: GumboVector, isStyle: Bool) {
        for index in 0..<Int(children.length) {
            guard let node = children.data[index]?.assumingMemoryBound(to: GumboNode.self).pointee else { continue }
            switch node.type {
            case GUMBO_NODE_ELEMENT, GUMBO_NODE_TEMPLATE: add(node.v.element)
            case GUMBO_NODE_TEXT, GUMBO_NODE_WHITESPACE, GUMBO_NODE_CDATA:
                let text = String(cString: node.v.text.text)
                if isStyle, let last = elements.indices.last {
                    elements[last].style = (elements[last].style ?? "") + text
                } else {
                    self.text += text
                }
            default: break
            }
        }
    }

    private mutating func add(_ element: GumboElement) {
        let name =
            String(cString: gumbo_normalized_tagname(element.tag)).isEmpty
            ? Self.name(element.original_tag) : String(cString: gumbo_normalized_tagname(element.tag))
        let attributes = (0..<Int(element.attributes.length)).compactMap { index -> Attribute? in
            element.attributes.data[index]?.assumingMemoryBound(to: GumboAttribute.self).pointee.attribute
        }
        elements.append(Element(name: name, attributes: attributes))
        guard name != "noscript" else { return }
        add(element.children, isStyle: name == "style")
    }

    /// The name of an element that the parser does not know: letters after `<`.
    private static func name(_ tag: GumboStringPiece) -> String {
        guard let data = tag.data, tag.length > 1 else { return "" }
        let bytes = UnsafeRawBufferPointer(start: data, count: tag.length).dropFirst()
        return String(decoding: bytes.prefix { !" \t\n\u{c}\r/>".utf8.contains($0) }, as: UTF8.self).lowercased()
    }
}

extension GumboAttribute {
    fileprivate var attribute: ParsedPage.Attribute {
        let space = attr_namespace == GUMBO_ATTR_NAMESPACE_XLINK ? "xlink:" : ""
        return ParsedPage.Attribute(name: space + String(cString: name), value: String(cString: value))
    }
}
#endif
