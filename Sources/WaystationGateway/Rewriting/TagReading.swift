#if Gateway
/// A tag as far as it was read.
struct Tag {
    var name = ShortName()
    var element = Element.other
    var isEnd = false
    var isEmpty = false
    /// The attribute whose name or value is being read; nil for unknown ones.
    var attribute: Attribute?
    var attributeName = ShortName()
    /// The attributes that were read, one bit for each: of several ones with one name only the first counts.
    private var seen: UInt32 = 0
    /// The start of a value that is needed.
    var valueStart: Int?
    /// The content of a `meta` tag, which is read when the rest of the tag is known.
    var content: (range: Range<Int>, isQuoted: Bool)?
    var meaning = MetaMeaning.none
    /// Whether the content of an `annotation-xml` is HTML.
    var hasHTML = false

    /// The meaning of a `meta` tag's content.
    enum MetaMeaning {
        case none, refresh, policy
    }

    /// Takes the name of an attribute when it has been read.
    mutating func endAttributeName() {
        attribute = nil
        guard !isEnd, let named = Attribute.named(attributeName) else { return }
        let bit = UInt32(1) << named.rawValue
        guard seen & bit == 0 else { return }
        seen |= bit
        let isRead =
            switch named {
            case .data: element == .object
            case .content, .httpEquiv: element == .meta
            case .encoding: element == .annotation
            case .color, .face, .size: false
            default: element != .meta
            }
        if isRead { attribute = named }
    }

    /// Whether the tag ends SVG and MathML before it.
    var breaksOut: Bool {
        element == .breakout || element == .meta || (element == .font && has(.color, .face, .size))
    }

    private func has(_ attributes: Attribute...) -> Bool {
        attributes.contains { seen & (UInt32(1) << $0.rawValue) != 0 }
    }
}
#endif
