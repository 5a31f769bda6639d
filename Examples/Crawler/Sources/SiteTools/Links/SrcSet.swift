/// The URLs of a `srcset` attribute, by the parsing rules of HTML ("parse a srcset attribute").
///
/// URLs may contain commas, and descriptors may contain parentheses, so splitting at commas is not enough.
enum SrcSet {
    static func urls(in attribute: String) -> [String] {
        let bytes = Array(attribute.utf8)
        let comma = UInt8(ascii: ",")
        var urls: [String] = []
        var index = 0
        while true {
            while index < bytes.count, isSpace(bytes[index]) || bytes[index] == comma { index += 1 }
            guard index < bytes.count else { return urls }
            let start = index
            while index < bytes.count, !isSpace(bytes[index]) { index += 1 }
            var end = index
            if bytes[end - 1] == comma {
                // This candidate has no descriptor.
                while end > start, bytes[end - 1] == comma { end -= 1 }
            } else {
                index = endOfDescriptors(in: bytes, from: index)
            }
            if end > start { urls.append(String(decoding: bytes[start..<end], as: UTF8.self)) }
        }
    }

    private static func endOfDescriptors(in bytes: [UInt8], from start: Int) -> Int {
        var index = start
        var isInParentheses = false
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "("): isInParentheses = true
            case UInt8(ascii: ")"): isInParentheses = false
            case UInt8(ascii: ",") where !isInParentheses: return index + 1
            default: break
            }
            index += 1
        }
        return index
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0C || byte == 0x0D
    }
}
