/// An IPv6 address, parsed by RFC 4291 §2.2 and written by RFC 5952 §4.
///
/// Zone identifiers are not supported.
struct IPv6Address: CustomStringConvertible {
    /// The eight groups of 16 bits.
    let groups: [UInt16]

    init?(_ text: ArraySlice<UInt8>) {
        let colon = UInt8(ascii: ":")
        var head: [UInt16] = []
        var tail: [UInt16]?
        var rest = text
        if rest.starts(with: [colon, colon]) {
            tail = []
            rest = rest.dropFirst(2)
        }
        while !rest.isEmpty {
            let end = rest.firstIndex(of: colon) ?? rest.endIndex
            guard let groups = Self.groups(rest[..<end], isLast: end == rest.endIndex) else { return nil }
            if tail == nil { head += groups } else { tail? += groups }
            rest = rest[end...]
            if rest.starts(with: [colon, colon]) {
                guard tail == nil else { return nil }
                tail = []
                rest = rest.dropFirst(2)
            } else if !rest.isEmpty {
                rest = rest.dropFirst()
                guard !rest.isEmpty else { return nil }
            }
        }
        guard let tail else {
            guard head.count == 8 else { return nil }
            groups = head
            return
        }
        // `::` stands for at least one group of zeros.
        let zeros = 8 - head.count - tail.count
        guard zeros >= 1 else { return nil }
        groups = head + Array(repeating: 0, count: zeros) + tail
    }

    var description: String {
        let run = longestZeroRun
        func hexadecimal(_ part: ArraySlice<UInt16>) -> String {
            part.map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard run.count >= 2 else { return hexadecimal(groups[...]) }
        return hexadecimal(groups[..<run.lowerBound]) + "::" + hexadecimal(groups[run.upperBound...])
    }

    /// The first of the longest runs of zeros (RFC 5952 §4.2.3).
    private var longestZeroRun: Range<Int> {
        var longest = 0..<0
        var start = 0
        for (index, group) in groups.enumerated() {
            if group != 0 {
                start = index + 1
            } else if index + 1 - start > longest.count {
                longest = start..<(index + 1)
            }
        }
        return longest
    }

    /// One group of up to four hexadecimal digits, or an IPv4 address at the end as two groups.
    private static func groups(_ text: ArraySlice<UInt8>, isLast: Bool) -> [UInt16]? {
        if isLast, text.contains(UInt8(ascii: ".")) {
            let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            var value: UInt32 = 0
            for part in parts {
                guard let number = UInt8(String(decoding: part, as: UTF8.self)), part.first != UInt8(ascii: "+"),
                    part.count == 1 || part.first != UInt8(ascii: "0")
                else { return nil }
                value = value << 8 | UInt32(number)
            }
            return parts.count == 4 ? [UInt16(value >> 16), UInt16(value & 0xFFFF)] : nil
        }
        guard (1...4).contains(text.count) else { return nil }
        var value: UInt16 = 0
        for byte in text {
            guard let digit = hexadecimalValue(byte) else { return nil }
            value = value << 4 | UInt16(digit)
        }
        return [value]
    }
}
