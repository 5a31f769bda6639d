#if Gateway
import Foundation
import WaystationHTTP

/// The bytes of markup and style sheets, in every encoding that contains ASCII.
enum Characters {
    static let tab = UInt8(ascii: "\t")
    static let lineFeed = UInt8(ascii: "\n")
    static let formFeed: UInt8 = 0x0c
    static let carriageReturn = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")

    /// Whether a byte is ASCII whitespace (Infra §4.6).
    @inline(__always)
    static func isSpace(_ byte: UInt8) -> Bool {
        byte == space || byte == lineFeed || byte == tab || byte == carriageReturn || byte == formFeed
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The first place of a byte in a range.
    @inline(__always)
    func first(_ byte: UInt8, from start: Int, to end: Int) -> Int? {
        guard start < end, let base = baseAddress else { return nil }
        return memchr(base + start, Int32(byte), end - start).map { UnsafeRawPointer($0) - UnsafeRawPointer(base) }
    }

    /// Whether a text begins at a place.
    ///
    /// - Parameters:
    ///   - text: The text, in lower case unless the comparison is exact.
    ///   - start: The place.
    ///   - isExact: Whether letters in upper case differ from those in lower case.
    /// - Returns: Nil if the bytes end within the text.
    func begins(with text: [UInt8], at start: Int, isExact: Bool = false) -> Bool? {
        for (index, byte) in text.enumerated() {
            guard start + index < count else { return nil }
            let found = self[start + index]
            guard (isExact ? found : found.lowercased) == byte else { return false }
        }
        return true
    }
}

/// Values by their names, for a look-up at each tag and attribute of a page.
///
/// A dictionary would spend most of its time on a hash that resists attacks, which these fixed names do not need.
struct NameTable<Value: Sendable>: Sendable {
    private var slots: [(name: ShortName, value: Value)?]
    private let mask: Int

    init(_ values: [ShortName: Value]) {
        let count = 1 << (Int.bitWidth - (values.count * 4).leadingZeroBitCount)
        slots = Array(repeating: nil, count: count)
        mask = count - 1
        for (name, value) in values {
            var index = name.mixed & mask
            while slots[index] != nil { index = (index + 1) & mask }
            slots[index] = (name, value)
        }
    }

    subscript(name: ShortName) -> Value? {
        var index = name.mixed & mask
        // Most slots are empty.
        while let slot = slots[index] {
            if slot.name == name { return slot.value }
            index = (index + 1) & mask
        }
        return nil
    }
}

/// Character references in the value of an attribute (HTML §13.2.5.72 to §13.2.5.80).
enum CharacterReferences {
    /// The value of an attribute as a browser takes it.
    ///
    /// Only references to ASCII characters are decoded by name: all others stay as they are, as no host and no keyword
    /// contains them.
    ///
    /// - Parameters:
    ///   - text: The bytes as they were sent.
    ///   - range: The value without its quotes.
    /// - Returns: The decoded value.
    static func decoded(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> MappedBytes {
        guard text.first(UInt8(ascii: "&"), from: range.lowerBound, to: range.upperBound) != nil else {
            return MappedBytes(text[range], at: range.lowerBound)
        }
        var value = MappedBytes(capacity: range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            if text[index] == UInt8(ascii: "&"), let (scalars, end) = reference(text, index, range.upperBound) {
                for scalar in scalars { value.append(scalar, at: index) }
                index = end
            } else {
                value.append(text[index], at: index)
                index += 1
            }
        }
        value.end(at: range.upperBound)
        return value
    }

    private static func reference(
        _ text: UnsafeBufferPointer<UInt8>,
        _ start: Int,
        _ end: Int
    ) -> (String.UnicodeScalarView, Int)? {
        guard start + 1 < end else { return nil }
        if text[start + 1] == UInt8(ascii: "#") { return numeric(text, start + 2, end) }
        var last = start + 1
        while last < end, last - start <= longestName, text[last].isASCIIAlphanumeric { last += 1 }
        let name = String(decoding: text[(start + 1)..<last], as: UTF8.self)
        if last < end, text[last] == UInt8(ascii: ";") {
            return named[name].map { ($0.unicodeScalars, last + 1) }
        }
        // Without a semicolon only the oldest names count, and not before what may be a query's next name.
        guard withoutSemicolon.contains(name), last == end || text[last] != UInt8(ascii: "="),
            let character = named[name]
        else { return nil }
        return (character.unicodeScalars, last)
    }

    private static func numeric(
        _ text: UnsafeBufferPointer<UInt8>,
        _ start: Int,
        _ end: Int
    ) -> (String.UnicodeScalarView, Int)? {
        var index = start
        let isHex = index < end && text[index] | 0x20 == UInt8(ascii: "x")
        if isHex { index += 1 }
        let first = index
        var code: UInt32 = 0
        while index < end, let digit = text[index].hexadecimalDigit, isHex || digit < 10 {
            code = min(code * (isHex ? 16 : 10) + UInt32(digit), 0x11_0000)
            index += 1
        }
        guard index > first else { return nil }
        if index < end, text[index] == UInt8(ascii: ";") { index += 1 }
        // Zero, surrogates and too large numbers stand for the replacement character. Numbers from 128 to 159 stand for
        // characters of windows-1252; none of them matters here.
        let scalar = code == 0 ? nil : Unicode.Scalar(code)
        return (String(Character(scalar ?? "\u{fffd}")).unicodeScalars, index)
    }

    private static let longestName = 18
    private static let withoutSemicolon: Set<String> = ["quot", "QUOT", "amp", "AMP", "lt", "LT", "gt", "GT"]
    /// The names of ASCII characters (HTML §13.5).
    private static let named: [String: String] = [
        "Tab": "\t", "NewLine": "\n", "excl": "!", "quot": "\"", "QUOT": "\"", "num": "#", "dollar": "$",
        "percnt": "%", "amp": "&", "AMP": "&", "apos": "'", "lpar": "(", "rpar": ")", "ast": "*", "midast": "*",
        "plus": "+", "comma": ",", "period": ".", "sol": "/", "colon": ":", "semi": ";", "lt": "<", "LT": "<",
        "equals": "=", "gt": ">", "GT": ">", "quest": "?", "commat": "@", "lsqb": "[", "lbrack": "[", "bsol": "\\",
        "rsqb": "]", "rbrack": "]", "Hat": "^", "lowbar": "_", "UnderBar": "_", "grave": "`",
        "DiacriticalGrave": "`", "lcub": "{", "lbrace": "{", "verbar": "|", "vert": "|", "VerticalLine": "|",
        "rcub": "}", "rbrace": "}", "fjlig": "fj",
    ]
}

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
