/// A value of a TOML document and its place.
struct TOMLValue {
    enum Kind {
        case string(TOMLString)
        case integer(Int)
        case float(Double)
        case boolean(Bool)
        /// A date, a time or both, as it was written.
        case date(String)
        case array(TOMLArray)
        case table(TOMLTable)
    }

    let kind: Kind
    let range: Range<Int>
}

/// The text of a string, and where its scalars stand in the document, which escapes move apart.
struct TOMLString {
    var text = ""
    private(set) var offsets: [Int] = []

    mutating func append(_ scalar: Unicode.Scalar, at offset: Int) {
        text.unicodeScalars.append(scalar)
        offsets.append(offset)
    }

    /// The place of the text from an offset in its UTF-8 form.
    func range(fromUTF8 offset: Int, in value: Range<Int>) -> Range<Int> {
        let index = String(decoding: text.utf8.prefix(offset), as: UTF8.self).unicodeScalars.count
        let start = index < offsets.count ? offsets[index] : max(value.lowerBound, value.upperBound - 1)
        return start..<value.upperBound
    }
}

/// A table of a TOML document while it is read and afterwards.
///
/// It is a class because later lines of the document add to tables of earlier ones.
final class TOMLTable {
    /// The way in which a table came into being, which decides what may be added to it.
    enum Origin {
        /// The document itself.
        case document
        /// A header `[a.b]` names it, or an element of `[[a.b]]`.
        case header
        /// A header of a table within it was read before its own, which may still follow.
        case implied
        /// The first parts of a dotted key name it.
        case dotted
        /// It was written in braces, and is complete.
        case inline
    }

    struct Entry {
        let key: TOMLKey
        var value: TOMLValue
    }

    var origin: Origin
    /// The place that stands for the table in messages: its header, or its braces.
    var range: Range<Int>
    private(set) var entries: [Entry] = []
    private var places: [String: Int] = [:]
    /// Whether a line that belongs to the table could not be read, so that a missing key means nothing.
    var isIncomplete = false

    init(_ origin: Origin, _ range: Range<Int>) {
        self.origin = origin
        self.range = range
    }

    func entry(_ name: String) -> Entry? { places[name].map { entries[$0] } }

    /// Adds a key that the table does not have yet.
    func add(_ key: TOMLKey, _ value: TOMLValue) {
        places[key.name] = entries.count
        entries.append(Entry(key: key, value: value))
    }
}

/// One part of a key in a TOML document; most keys have one part only.
struct TOMLKey {
    let name: String
    let range: Range<Int>
}

/// An array of a TOML document.
final class TOMLArray {
    /// Whether headers such as `[[rule]]` make its elements.
    let isOfTables: Bool
    private(set) var elements: [TOMLValue] = []

    init(isOfTables: Bool) { self.isOfTables = isOfTables }

    func add(_ value: TOMLValue) { elements.append(value) }
}
