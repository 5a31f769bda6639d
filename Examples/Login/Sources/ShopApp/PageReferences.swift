import CGumbo
import Foundation

/// The references of an HTML page, read from the tree of an HTML parser.
struct PageReferences {
    /// The URLs that the page links to, in order.
    private(set) var links: [URL] = []
    /// The page's style sheets, scripts and pictures.
    private(set) var files: [URL] = []

    init(_ html: String, at url: URL) {
        html.withCString { text in
            guard let output = gumbo_parse(text) else { return }
            defer {
                var options = kGumboDefaultOptions
                gumbo_destroy_output(&options, output)
            }
            guard let document = output.pointee.document else { return }
            var nodes = [UnsafePointer<GumboNode>(document)]
            while let node = nodes.popLast() {
                switch node.pointee.type {
                case GUMBO_NODE_DOCUMENT: nodes += Self.children(of: node.pointee.v.document.children)
                case GUMBO_NODE_ELEMENT:
                    read(node.pointee.v.element, at: url)
                    nodes += Self.children(of: node.pointee.v.element.children)
                default: break
                }
            }
        }
    }

    /// The children in reverse order, for a stack.
    private static func children(of vector: GumboVector) -> [UnsafePointer<GumboNode>] {
        UnsafeBufferPointer(start: vector.data, count: Int(vector.length)).reversed().compactMap { node in
            node.map { UnsafePointer($0.assumingMemoryBound(to: GumboNode.self)) }
        }
    }

    private mutating func read(_ element: GumboElement, at url: URL) {
        switch element.tag {
        case GUMBO_TAG_A: links += Self.reference("href", of: element, at: url)
        case GUMBO_TAG_LINK: files += Self.reference("href", of: element, at: url)
        case GUMBO_TAG_SCRIPT, GUMBO_TAG_IMG: files += Self.reference("src", of: element, at: url)
        default: break
        }
    }

    private static func reference(_ name: String, of element: GumboElement, at url: URL) -> [URL] {
        var attributes = element.attributes
        guard let attribute = gumbo_get_attribute(&attributes, name), let value = attribute.pointee.value,
            let reference = URL(string: String(cString: value), relativeTo: url)
        else { return [] }
        return [reference.absoluteURL]
    }
}
