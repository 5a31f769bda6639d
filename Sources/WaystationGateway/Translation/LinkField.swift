#if Gateway
/// The field `Link` (RFC 8288 §3), which names resources that a browser loads early, and others.
///
/// ```
/// Link: <https://cdn.example/a.woff2>; rel=preload; as=font, </next>; rel="next"
/// ```
enum LinkField {
    /// Finds the targets of the links: the texts between angle brackets before their parameters.
    ///
    /// - Parameter value: The value of the field.
    /// - Returns: The places of the targets, in their order, without the brackets.
    static func targets(in value: [UInt8]) -> [Range<Int>] {
        var targets: [Range<Int>] = []
        var index = 0
        while index < value.count {
            if value[index] == UInt8(ascii: "<") {
                guard let end = value[index...].firstIndex(of: UInt8(ascii: ">")) else { return targets }
                targets.append((index + 1)..<end)
                index = end
            }
            // A link without a target is invalid; the next link may be valid.
            guard isSeparator(value[index]) else {
                index = endOfLink(value, from: index) + 1
                continue
            }
            index += 1
        }
        return targets
    }

    /// The place of the comma that ends a link, or the end of the value; commas within quotes do not count.
    private static func endOfLink(_ value: [UInt8], from start: Int) -> Int {
        var index = start
        var isQuoted = false
        while index < value.count {
            switch value[index] {
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "\\") where isQuoted: index += 1
            case UInt8(ascii: ",") where !isQuoted: return index
            default: break
            }
            index += 1
        }
        return index
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte == Characters.space || byte == Characters.tab || byte == UInt8(ascii: ",")
    }
}
#endif
