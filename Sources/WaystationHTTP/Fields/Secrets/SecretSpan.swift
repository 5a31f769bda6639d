/// A secret within a text, and the bytes that replace it.
package struct SecretSpan: Sendable {
    /// The place of the secret in the text, in bytes.
    package var range: Range<Int>
    /// The bytes that replace the secret, in the coding of the text.
    package var replacement: [UInt8]
    /// The name of the secret.
    package let name: String
    /// The secret without the text's codings.
    package let value: [UInt8]

    package init(_ range: Range<Int>, _ name: String, _ value: [UInt8], replacement: [UInt8]) {
        self.range = range
        self.replacement = replacement
        self.name = name
        self.value = value
    }
}

extension [SecretSpan] {
    /// The spans in the order of the text; of two that overlap, the one that begins first.
    package var inOrder: [SecretSpan] {
        var result: [SecretSpan] = []
        let sorted = sorted {
            ($0.range.lowerBound, $1.range.upperBound) < ($1.range.lowerBound, $0.range.upperBound)
        }
        for span in sorted {
            guard let last = result.last, span.range.lowerBound < last.range.upperBound else {
                result.append(span)
                continue
            }
            // A secret that ends later must not be left over.
            if span.range.upperBound > last.range.upperBound {
                result[result.count - 1].range = last.range.lowerBound..<span.range.upperBound
            }
        }
        return result
    }

    /// The text with the replacements; all other bytes stay as they are.
    package func applied(to text: [UInt8]) -> [UInt8] {
        guard !isEmpty else { return text }
        var result: [UInt8] = []
        result.reserveCapacity(text.count + count * SecretNames.encodedPlaceholder.utf8.count)
        var place = 0
        for span in inOrder {
            result += text[place..<span.range.lowerBound] + span.replacement
            place = span.range.upperBound
        }
        return result + text[place...]
    }
}

/// A part of a text without its coding, and the places of its bytes in the text.
package struct DecodedPart: Sendable {
    /// The bytes without the coding.
    package private(set) var bytes: [UInt8]
    /// The index of each byte in the text; nil while all of them follow one another.
    private var places: [Int]?
    private let range: Range<Int>

    /// Makes a part of a text that has no codings.
    package init(_ text: [UInt8], _ range: Range<Int>) {
        bytes = Array(text[range])
        self.range = range
    }

    /// Makes an empty part of a text, to which bytes are added.
    package init(for range: Range<Int>) {
        (bytes, places) = ([], [])
        self.range = range
    }

    /// Adds a byte.
    package mutating func append(_ byte: UInt8, at place: Int) {
        bytes.append(byte)
        places?.append(place)
    }

    /// The spans of the decoded bytes as spans of the text, whose coding `encode` adds.
    package func outer(_ spans: [SecretSpan], encode: ([UInt8]) -> [UInt8]) -> [SecretSpan] {
        spans.map { span in
            var outer = span
            outer.range = place(span.range.lowerBound)..<place(span.range.upperBound)
            outer.replacement = encode(span.replacement)
            return outer
        }
    }

    private func place(_ index: Int) -> Int {
        guard index < bytes.count else { return range.upperBound }
        return places.map { $0[index] } ?? range.lowerBound + index
    }
}
