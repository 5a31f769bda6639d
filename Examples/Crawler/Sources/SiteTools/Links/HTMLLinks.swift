import CGumbo

/// The references of an HTML page (or an SVG picture), read from the tree that an HTML5 parser builds.
struct HTMLLinks {
    /// The references as written, in order, each once for each kind; not resolved.
    private(set) var references: [Reference] = []
    /// `<base href>`, as written.
    private(set) var base: String?
    /// Whether the page has `<meta name="robots" content="nofollow">`, by which the author asks crawlers not to follow
    /// its links.
    private(set) var isNofollow = false
    /// The encoding that the first `meta` element with one declares.
    private(set) var encoding: WebEncoding?
    /// The pages that `srcdoc` attributes of frames contain.
    private(set) var srcdocs: [String] = []

    struct Reference: Hashable {
        let text: String
        let kind: LinkKind
        /// Whether its query is sent in UTF-8 in pages of any encoding: browsers do so for `style` attributes and for
        /// `@import`.
        var hasUTF8Query = false
    }

    private var seen: Set<Reference> = []

    /// - Parameter html: UTF-8; the parser replaces invalid bytes.
    init(html: UnsafeBufferPointer<UInt8>) {
        let arena = HTMLArena()
        var options = arena.options
        guard let start = html.baseAddress, !html.isEmpty,
            let output = start.withMemoryRebound(
                to: CChar.self,
                capacity: html.count,
                { gumbo_parse_with_options(&options, $0, HTMLNesting.safeLength(html)) }
            )
        else { return }
        // An explicit stack: a page may be nested deeper than a thread's stack allows.
        var stack: [UnsafePointer<GumboNode>] = []
        if let document = output.pointee.document { stack.append(UnsafePointer(document)) }
        while let node = stack.popLast() {
            switch node.pointee.type {
            case GUMBO_NODE_ELEMENT, GUMBO_NODE_TEMPLATE:
                read(node.pointee.v.element)
                push(node.pointee.v.element.children, on: &stack)
            case GUMBO_NODE_DOCUMENT:
                push(node.pointee.v.document.children, on: &stack)
            default:
                break
            }
        }
        withExtendedLifetime(arena) {}
        seen = []
    }

    private func push(_ children: GumboVector, on stack: inout [UnsafePointer<GumboNode>]) {
        guard let data = children.data else { return }
        for index in stride(from: Int(children.length) - 1, through: 0, by: -1) {
            if let child = data[index] { stack.append(UnsafePointer(child.assumingMemoryBound(to: GumboNode.self))) }
        }
    }

    // MARK: Elements

    private mutating func read(_ element: GumboElement) {
        let attributes = Attributes(element.attributes)
        if attributes.isEmpty, element.tag != GUMBO_TAG_STYLE { return }
        if element.tag_namespace == GUMBO_NAMESPACE_SVG {
            readSVG(element, attributes)
        } else {
            readHTML(element, attributes)
        }
        if let style = attributes["style"] { addCSS(style, isAttribute: true) }
    }

    private mutating func readHTML(_ element: GumboElement, _ attributes: Attributes) {
        switch element.tag {
        case GUMBO_TAG_A, GUMBO_TAG_AREA:
            add(attributes.pointer("href"), .page)
        case GUMBO_TAG_LINK:
            readLink(attributes)
        case GUMBO_TAG_SCRIPT:
            add(attributes.pointer("src"), .script)
        case GUMBO_TAG_IMG:
            add(attributes.pointer("src"), .image)
            addSrcSet(attributes["srcset"], .image)
        case GUMBO_TAG_SOURCE:
            add(attributes.pointer("src"), .media)
            addSrcSet(attributes["srcset"], .image)
        case GUMBO_TAG_VIDEO, GUMBO_TAG_AUDIO:
            add(attributes.pointer("src"), .media)
            add(attributes.pointer("poster"), .image)
        case GUMBO_TAG_TRACK:
            add(attributes.pointer("src"), .media)
        case GUMBO_TAG_IFRAME, GUMBO_TAG_FRAME:
            add(attributes.pointer("src"), .frame)
            if element.tag == GUMBO_TAG_IFRAME, let page = attributes["srcdoc"] { srcdocs.append(page) }
        case GUMBO_TAG_EMBED:
            add(attributes.pointer("src"), .object)
        case GUMBO_TAG_OBJECT:
            add(attributes.pointer("data"), .object)
        case GUMBO_TAG_INPUT:
            if attributes["type"]?.lowercased() == "image" { add(attributes.pointer("src"), .image) }
        case GUMBO_TAG_BODY, GUMBO_TAG_TABLE, GUMBO_TAG_TR, GUMBO_TAG_TD, GUMBO_TAG_TH:
            add(attributes.pointer("background"), .image)
        case GUMBO_TAG_BASE:
            if base == nil { base = attributes["href"] }
        case GUMBO_TAG_META:
            readMeta(attributes)
        case GUMBO_TAG_STYLE:
            readStyleBlock(element)
        default:
            break
        }
    }

    private mutating func readSVG(_ element: GumboElement, _ attributes: Attributes) {
        switch element.tag {
        case GUMBO_TAG_A:
            add(attributes.pointer("href"), .page)
        case GUMBO_TAG_SCRIPT:
            add(attributes.pointer("href"), .script)
        case GUMBO_TAG_STYLE:
            readStyleBlock(element)
        default:
            // `use`, `image`, `feImage`, `pattern`: an SVG element needs everything else that it refers to.
            add(attributes.pointer("href"), .image)
        }
    }

    private mutating func readLink(_ attributes: Attributes) {
        let relations = Set((attributes["rel"] ?? "").lowercased().split { $0.isWhitespace }.map(String.init))
        let kind: LinkKind
        if relations.contains("stylesheet") {
            kind = .stylesheet
        } else if !relations.isDisjoint(with: ["icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon"])
        {
            kind = .image
        } else if !relations.isDisjoint(with: ["preload", "prefetch", "modulepreload", "manifest"]) {
            kind = .asset
            addSrcSet(attributes["imagesrcset"], .image)
        } else if !relations.isDisjoint(with: ["preconnect", "dns-prefetch", "pingback"]) {
            return  // These are not documents.
        } else {
            kind = .page
        }
        add(attributes.pointer("href"), kind)
    }

    private mutating func readMeta(_ attributes: Attributes) {
        if encoding == nil { encoding = attributes["charset"].flatMap { WebEncoding(label: $0) }?.asDeclared }
        guard let content = attributes["content"] else { return }
        let pragma = attributes["http-equiv"]?.lowercased()
        if pragma == "refresh", let url = MetaRefresh.url(in: content) { add(url, .refresh) }
        if pragma == "content-type", encoding == nil, let label = EncodingPrescan.charset(inContent: content) {
            encoding = WebEncoding(label: label)?.asDeclared
        }
        if attributes["name"]?.lowercased() == "robots" {
            let directives = content.lowercased().split { $0 == "," || $0.isWhitespace }
            if directives.contains("nofollow") || directives.contains("none") { isNofollow = true }
        }
    }

    private mutating func readStyleBlock(_ element: GumboElement) {
        guard let data = element.children.data else { return }
        for index in 0..<Int(element.children.length) {
            guard let node = data[index]?.assumingMemoryBound(to: GumboNode.self),
                let text = node.pointee.v.text.text,
                node.pointee.type == GUMBO_NODE_TEXT || node.pointee.type == GUMBO_NODE_CDATA
            else { continue }
            addCSS(String(cString: text))
        }
    }

    // MARK: Collecting

    private mutating func addCSS(_ css: String, isAttribute: Bool = false) {
        for reference in CSSURLs.references(in: css) {
            add(reference.url, reference.kind, hasUTF8Query: isAttribute || reference.isImport)
        }
    }

    private mutating func addSrcSet(_ attribute: String?, _ kind: LinkKind) {
        guard let attribute else { return }
        for url in SrcSet.urls(in: attribute) { add(url, kind) }
    }

    /// Removes the fragment before it makes a string: an index page links to the same few hundred documents ten
    /// thousand times.
    private mutating func add(_ value: UnsafePointer<CChar>?, _ kind: LinkKind) {
        guard let value else { return }
        var length = 0
        while value[length] != 0, value[length] != CChar(bitPattern: UInt8(ascii: "#")) { length += 1 }
        guard length > 0 else { return }
        let text = UnsafeRawBufferPointer(start: value, count: length).withMemoryRebound(to: UInt8.self) {
            String(decoding: $0, as: UTF8.self)
        }
        insert(Reference(text: text, kind: kind))
    }

    private mutating func add(_ url: String, _ kind: LinkKind, hasUTF8Query: Bool = false) {
        let text = String(url.prefix { $0 != "#" })
        guard !text.isEmpty else { return }
        insert(Reference(text: text, kind: kind, hasUTF8Query: hasUTF8Query))
    }

    private mutating func insert(_ reference: Reference) {
        if seen.insert(reference).inserted { references.append(reference) }
    }
}

/// The attributes of one element, by name.
private struct Attributes {
    private let vector: GumboVector

    init(_ vector: GumboVector) {
        self.vector = vector
    }

    var isEmpty: Bool { vector.length == 0 }

    /// The value with entities decoded, or nil without the attribute.
    subscript(name: StaticString) -> String? {
        pointer(name).map { String(cString: $0) }
    }

    func pointer(_ name: StaticString) -> UnsafePointer<CChar>? {
        guard vector.length > 0 else { return nil }
        return withUnsafePointer(to: vector) { vector in
            name.withUTF8Buffer { buffer in
                // Static strings end with a zero byte.
                UnsafeRawPointer(buffer.baseAddress)
                    .map { gumbo_get_attribute(vector, $0.assumingMemoryBound(to: CChar.self)) }
                    .flatMap { $0?.pointee.value }
            }
        }
    }
}
