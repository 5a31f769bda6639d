/// The items of a query that a cache key leaves out, and whether their order is part of the key.
///
/// The names are compared as forms encode them: `+` is a space, and percent-encodings are decoded. The items that
/// stay in the key keep their spelling, because a server may treat two spellings as different.
package struct QueryChoice: Hashable, Sendable {
    /// The names of the items that are left out; one that ends in `*` stands for all names that begin with the rest.
    package var ignored: [String] = []
    /// Whether the items that are left are sorted by their names; items with the same name keep their order.
    package var isSorted = false

    /// Makes a choice that leaves out nothing and sorts nothing.
    package init() {}

    /// Makes a choice.
    package init(ignoring ignored: [String], isSorted: Bool = false) {
        (self.ignored, self.isSorted) = (ignored, isSorted)
    }

    /// Whether no URL is changed.
    package var isEmpty: Bool { ignored.isEmpty && !isSorted }

    /// A canonical URL with the query that the key has; without any item that is left, it has no query.
    package func applied(to url: String) -> String {
        guard !isEmpty, let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return url }
        let items = FormItems.split(url[url.utf8.index(after: mark)...])
        var left = items.filter { !ignores($0.name) }
        if isSorted { left.sortByName() }
        guard !left.isEmpty else { return items.isEmpty && !ignored.contains("*") ? url : String(url[..<mark]) }
        return String(url[...mark]) + left.map(\.text).joined(separator: "&")
    }

    /// The names of the items of a URL's query that are left out, each once.
    package func namesIgnored(in url: String) -> [String] {
        guard !ignored.isEmpty, let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return [] }
        var names: [String] = []
        for item in FormItems.split(url[url.utf8.index(after: mark)...]) where ignores(item.name) {
            if !names.contains(item.name) { names.append(item.name) }
        }
        return names
    }

    private func ignores(_ name: String) -> Bool {
        // Two strings are also equal if they are only canonically equivalent, and are then different names.
        ignored.contains {
            $0.hasSuffix("*") ? name.utf8.starts(with: $0.utf8.dropLast()) : name.utf8.elementsEqual($0.utf8)
        }
    }
}

/// The items of a query, as forms encode them (<https://url.spec.whatwg.org/#concept-urlencoded-parser>).
struct FormItems {
    /// An item, with its decoded name.
    struct Item {
        let text: Substring
        let name: String
        /// The value in the spelling of the query; empty for an item without a value.
        let written: Substring

        /// The decoded value.
        var value: String { FormItems.decoded(written) }
    }

    /// The items of a query without its `?`; empty ones do not count.
    static func split(_ query: Substring) -> [Item] {
        query.split(separator: "&").map { text in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return Item(text: text, name: decoded(parts[0]), written: parts.count > 1 ? parts[1] : "")
        }
    }

    /// The text that a name or a value stands for; bytes that are not UTF-8 become U+FFFD.
    static func decoded(_ text: some StringProtocol) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if let byte = percentDecodedByte(bytes, at: index, end: bytes.count) {
                result.append(byte)
                index += 3
            } else {
                result.append(bytes[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// A text as it stands in the fragment of a key: all but the unreserved characters are percent-encoded.
    static func encoded(_ text: String) -> String { String(decoding: text.utf8.percentEncoded, as: UTF8.self) }
}

extension [FormItems.Item] {
    /// Sorts items by the bytes of their names; those with the same name keep their order.
    mutating func sortByName() {
        self = enumerated().sorted { left, right in
            let (first, second) = (left.element.name.utf8, right.element.name.utf8)
            return first.elementsEqual(second) ? left.offset < right.offset : first.lexicographicallyPrecedes(second)
        }.map(\.element)
    }
}
