#if Gateway
/// The elements whose tags or content need more than their attributes.
enum Element {
    /// Text in which only character references count.
    case title, textarea
    /// Text without markup; that of `noscript` as well, for browsers that run scripts.
    case style, rawText
    case script, plaintext
    case svg, math
    /// Elements of SVG and MathML whose content is HTML.
    case integrationPoint, annotation
    case meta, base, object, font
    /// Elements of HTML that end SVG and MathML before them (HTML §13.2.6.5).
    case breakout
    case other

    static func named(_ name: ShortName) -> Element { names[name] ?? .other }

    private static let names: NameTable<Element> = {
        var names: [ShortName: Element] = [
            ShortName("title"): .title, ShortName("textarea"): .textarea, ShortName("style"): .style,
            ShortName("xmp"): .rawText, ShortName("iframe"): .rawText, ShortName("noembed"): .rawText,
            ShortName("noframes"): .rawText, ShortName("noscript"): .rawText, ShortName("script"): .script,
            ShortName("plaintext"): .plaintext, ShortName("svg"): .svg, ShortName("math"): .math,
            ShortName("foreignobject"): .integrationPoint, ShortName("desc"): .integrationPoint,
            ShortName("mi"): .integrationPoint, ShortName("mo"): .integrationPoint,
            ShortName("mn"): .integrationPoint, ShortName("ms"): .integrationPoint,
            ShortName("mtext"): .integrationPoint, ShortName("annotation-xml"): .annotation,
            ShortName("meta"): .meta, ShortName("base"): .base, ShortName("object"): .object,
            ShortName("font"): .font,
        ]
        let breakouts: [StaticString] = [
            "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1",
            "h2", "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "nobr", "ol", "p", "pre",
            "ruby", "s", "small", "span", "strong", "strike", "sub", "sup", "table", "tt", "u", "ul", "var",
        ]
        for name in breakouts { names[ShortName(name)] = .breakout }
        return NameTable(names)
    }()
}

/// The attributes that are read.
enum Attribute: UInt8 {
    case href, source, sources, imageSources, poster, data, action, formAction, manifest, background, ping, xlink
    case style
    /// Of `meta`.
    case content, httpEquiv
    /// Of `annotation-xml`, and of `font`, where they decide how the tag is read.
    case encoding, color, face, size

    static func named(_ name: ShortName) -> Attribute? { names[name] }

    private static let names = NameTable<Attribute>([
        ShortName("href"): .href, ShortName("src"): .source, ShortName("srcset"): .sources,
        ShortName("imagesrcset"): .imageSources, ShortName("poster"): .poster, ShortName("data"): .data,
        ShortName("action"): .action, ShortName("formaction"): .formAction, ShortName("manifest"): .manifest,
        ShortName("background"): .background, ShortName("ping"): .ping, ShortName("xlink:href"): .xlink,
        ShortName("style"): .style, ShortName("content"): .content, ShortName("http-equiv"): .httpEquiv,
        ShortName("encoding"): .encoding, ShortName("color"): .color, ShortName("face"): .face,
        ShortName("size"): .size,
    ])

    /// The form of the value; nil if it has no URLs.
    var value: LinkValue? {
        switch self {
        case .href, .source, .poster, .data, .action, .formAction, .manifest, .background, .xlink: .url
        case .sources, .imageSources: .candidates
        case .ping: .urls
        case .style: .style
        case .content, .httpEquiv, .encoding, .color, .face, .size: nil
        }
    }
}
#endif
