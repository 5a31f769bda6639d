#if Gateway
import Foundation
import WaystationHTTP

/// The forms of the values of attributes that contain URLs.
enum LinkValue {
    /// One URL.
    case url
    /// URLs with spaces between them.
    case urls
    /// The candidates of `srcset` (HTML §4.8.4.2.2).
    case candidates
    /// Seconds, and perhaps a URL (HTML §4.2.5.3, "refresh").
    case refresh
    /// A content security policy.
    case policy(isQuoted: Bool)
    /// The declarations of a `style` attribute.
    case style

    /// Finds the edits of a value.
    ///
    /// - Parameters:
    ///   - text: The bytes as they were sent.
    ///   - range: The value without its quotes.
    ///   - links: The URLs to replace.
    /// - Returns: The edits, in the order of their places.
    func edits(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, _ links: Links) -> [Links.Edit] {
        guard mayHaveLink(text[range]) else { return [] }
        let value = CharacterReferences.decoded(text, range)
        return switch self {
        case .url: links.edit(value, value.bytes.indices).map { [$0] } ?? []
        case .urls: Self.words(value, value.bytes.indices).compactMap { links.edit(value, $0) }
        case .candidates: Self.candidates(value.bytes).compactMap { links.edit(value, $0) }
        case .refresh: Self.refresh(value.bytes).flatMap { links.edit(value, $0) }.map { [$0] } ?? []
        case .policy(let isQuoted): Self.policy(value, text, links, isQuoted: isQuoted)
        case .style: StyleScanner.edits(value, links, limit: range.count)
        }
    }

    /// Quickly finds out that a value has no absolute URL; most have none.
    private func mayHaveLink(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        switch self {
        case .url: AbsoluteURL.mayBeAbsolute(text.drop(while: AbsoluteURL.isControlOrSpace))
        case .style: text.contains(UInt8(ascii: "(")) || text.contains(UInt8(ascii: "&"))
        case .urls, .candidates, .refresh, .policy: true
        }
    }

    private static func words(_ value: MappedBytes, _ range: Range<Int>) -> [Range<Int>] {
        value.bytes[range].split(whereSeparator: Characters.isSpace).map(\.indices)
    }

    private static func candidates(_ bytes: [UInt8]) -> [Range<Int>] {
        var urls: [Range<Int>] = []
        var index = 0
        while true {
            while index < bytes.count, Characters.isSpace(bytes[index]) || bytes[index] == UInt8(ascii: ",") {
                index += 1
            }
            let start = index
            while index < bytes.count, !Characters.isSpace(bytes[index]) { index += 1 }
            guard index > start else { return urls }
            var end = index
            while end > start, bytes[end - 1] == UInt8(ascii: ",") { end -= 1 }
            urls.append(start..<end)
            // A URL that ends with a comma has no descriptors.
            if end == index { index = afterDescriptors(bytes, index) }
        }
    }

    private static func afterDescriptors(_ bytes: [UInt8], _ start: Int) -> Int {
        var index = start
        var isInParentheses = false
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "(") { isInParentheses = true }
            if byte == UInt8(ascii: ")") { isInParentheses = false }
            if byte == UInt8(ascii: ","), !isInParentheses { return index }
        }
        return index
    }

    /// The URL of the content of `<meta http-equiv=refresh>`, and of the field `Refresh`.
    static func refresh(_ bytes: [UInt8]) -> Range<Int>? {
        var rest = bytes[...].drop(while: Characters.isSpace)
        let time = rest.prefix { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
        guard let first = rest.first, first.isASCIIDigit || first == UInt8(ascii: ".") else { return nil }
        rest = rest[time.endIndex...]
        guard let mark = rest.first else { return nil }
        guard mark == UInt8(ascii: ";") || mark == UInt8(ascii: ",") || Characters.isSpace(mark) else { return nil }
        rest = rest.drop(while: Characters.isSpace)
        if let mark = rest.first, mark == UInt8(ascii: ";") || mark == UInt8(ascii: ",") { rest = rest.dropFirst() }
        rest = rest.drop(while: Characters.isSpace)
        if rest.startsIgnoringCase(with: "url".utf8) {
            let afterName = rest.dropFirst(3).drop(while: Characters.isSpace)
            if afterName.first == UInt8(ascii: "=") { rest = afterName.dropFirst().drop(while: Characters.isSpace) }
        }
        if let quote = rest.first, quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") {
            rest = rest.dropFirst().prefix { $0 != quote }
        }
        return rest.isEmpty ? nil : rest.indices
    }

    /// Changes a policy of the page in the same way as the field of this name.
    private static func policy(
        _ value: MappedBytes,
        _ text: UnsafeBufferPointer<UInt8>,
        _ links: Links,
        isQuoted: Bool
    ) -> [Links.Edit] {
        value.bytes.split { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: ",") }.flatMap { directive -> [Links.Edit] in
            let words = words(value, directive.indices)
            guard let first = words.first, let last = words.last else { return [] }
            let name = String(decoding: value.bytes[first], as: UTF8.self)
            guard !ContentSecurityPolicy.isDropped(name) else {
                // A semicolon is an empty directive, and is also allowed in a value without quotes.
                let range = value.places(first.lowerBound..<last.upperBound)
                return [Links.Edit(range: range, text: [UInt8(ascii: ";")])]
            }
            // The space before the added name would end a value without quotes.
            guard isQuoted, ContentSecurityPolicy.listsSources(name) else { return [] }
            return words.dropFirst().compactMap { addition(value, $0, text, links) }
        }
    }

    /// Adds the gateway's names to a source that a policy of the page admits.
    private static func addition(
        _ value: MappedBytes,
        _ word: Range<Int>,
        _ text: UnsafeBufferPointer<UInt8>,
        _ links: Links
    ) -> Links.Edit? {
        guard let source = String(validating: value.bytes[word], as: UTF8.self).flatMap({ PolicySource($0) }) else {
            return nil
        }
        let place = value.place(word.upperBound)
        // The path as the page has it, with its character references.
        let path = text[value.place(word.upperBound - source.path.utf8.count)..<place]
        let local = source.local(links).flatMap { Array(" \($0)".utf8) + path }
        return local.isEmpty ? nil : Links.Edit(range: place..<place, text: local)
    }
}
#endif
