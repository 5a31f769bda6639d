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
