#if Gateway
/// The open elements of SVG and MathML, in which tags and text are read in another way than in HTML
/// (HTML §13.2.6.5).
///
/// Only these elements are followed, not those of HTML around and within them, so that it is decided without building
/// a tree which rules hold.
struct ForeignContent {
    private struct Open {
        let name: ShortName
        /// Whether the content is HTML, as in `foreignObject`.
        let isHTML: Bool
    }

    /// Elements that are nested deeper are not followed.
    private static let maximumDepth = 256

    private var open: [Open] = []

    /// Whether the next tag is read by the rules of SVG and MathML.
    var isForeign: Bool { open.last.map { !$0.isHTML } ?? false }

    /// Takes a start tag.
    ///
    /// - Parameters:
    ///   - name: The name of the tag.
    ///   - element: The element of this name.
    ///   - isEmpty: Whether the tag ends with `/>`.
    ///   - breaksOut: Whether the tag ends SVG and MathML before it.
    ///   - hasHTML: Whether the content of an `annotation-xml` is HTML.
    /// - Returns: Whether the element is one of SVG or MathML.
    mutating func start(_ name: ShortName, _ element: Element, isEmpty: Bool, breaksOut: Bool, hasHTML: Bool) -> Bool {
        if isForeign, breaksOut { end() }
        guard isForeign || element == .svg || element == .math else { return false }
        if !isEmpty, open.count < Self.maximumDepth {
            let isHTML =
                switch element {
                case .integrationPoint, .title: true
                case .annotation: hasHTML
                default: false
                }
            open.append(Open(name: name, isHTML: isHTML))
        }
        return true
    }

    /// Takes an end tag.
    mutating func end(_ name: ShortName, _ element: Element) {
        guard !open.isEmpty else { return }
        if let index = open.lastIndex(where: { $0.name == name }) {
            open.removeSubrange(index...)
        } else if isForeign, element == .breakout || Self.enclosing.contains(name) {
            end()
        }
    }

    /// Ends all elements up to those with HTML as their content.
    private mutating func end() {
        while let last = open.last, !last.isHTML { open.removeLast() }
    }

    /// More elements of HTML in whose end tags SVG and MathML end.
    private static let enclosing: Set<ShortName> = [
        ShortName("a"), ShortName("article"), ShortName("aside"), ShortName("button"), ShortName("figure"),
        ShortName("footer"), ShortName("form"), ShortName("header"), ShortName("html"), ShortName("label"),
        ShortName("main"), ShortName("nav"), ShortName("section"), ShortName("td"), ShortName("th"), ShortName("tr"),
    ]
}
#endif
