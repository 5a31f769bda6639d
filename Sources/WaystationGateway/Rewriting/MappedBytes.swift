#if Gateway
/// A decoded text, with the place of each of its bytes in the text that it was decoded from.
///
/// A URL is found in the decoded text of an attribute or of a CSS token, but replaced in the text as it was sent.
struct MappedBytes {
    private(set) var bytes: [UInt8]
    /// The place of each decoded byte in the text as it was sent, and one more for the end; nil if decoding changed
    /// nothing, so that the places count up from `offset`.
    private var places: [Int]?
    private let offset: Int

    /// A text that needs no decoding.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - offset: The place of its first byte.
    init(_ bytes: some Sequence<UInt8>, at offset: Int) {
        self.bytes = Array(bytes)
        self.offset = offset
    }

    /// An empty text, to which decoded bytes are appended.
    init(capacity: Int) {
        bytes = []
        bytes.reserveCapacity(capacity)
        places = []
        places?.reserveCapacity(capacity + 1)
        offset = 0
    }

    /// Appends a byte that was decoded from the text at a place.
    mutating func append(_ byte: UInt8, at place: Int) {
        bytes.append(byte)
        places?.append(place)
    }

    /// Appends the UTF-8 form of a character that was decoded from the text at a place.
    mutating func append(_ scalar: Unicode.Scalar, at place: Int) {
        for byte in Unicode.UTF8.encode(scalar) ?? Unicode.UTF8.encodedReplacementCharacter { append(byte, at: place) }
    }

    /// Sets the place after the last byte.
    mutating func end(at place: Int) { places?.append(place) }

    /// The place of a byte, or of the end for the number of bytes.
    func place(_ index: Int) -> Int { places?[index] ?? offset + index }

    /// The places of a range of bytes.
    func places(_ range: Range<Int>) -> Range<Int> { place(range.lowerBound)..<place(range.upperBound) }

    /// A part of the text without some of its bytes.
    func filtered(_ range: Range<Int>, _ isKept: (UInt8) -> Bool) -> MappedBytes {
        var kept = MappedBytes(capacity: range.count)
        for index in range where isKept(bytes[index]) { kept.append(bytes[index], at: place(index)) }
        kept.end(at: place(range.upperBound))
        return kept
    }
}
#endif
