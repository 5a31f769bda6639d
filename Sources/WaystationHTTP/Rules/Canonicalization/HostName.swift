/// Canonicalises hosts of RFC 3986 §3.2.2.
enum HostName {
    /// The host in canonical form, or `nil` when it is not a valid host.
    ///
    /// An empty host stays empty. With `readsNumbersAsIPv4`, a host that ends in a number must be a valid IPv4 address,
    /// as in http URLs.
    static func canonicalize(_ text: ArraySlice<UInt8>, readsNumbersAsIPv4: Bool) -> [UInt8]? {
        if text.first == UInt8(ascii: "[") {
            guard text.last == UInt8(ascii: "]"), let address = IPv6Address(text.dropFirst().dropLast()) else {
                return nil
            }
            return Array("[\(address)]".utf8)
        }

        var host = removingPercentEncoding(text)
        if host.contains(where: { $0 >= 0x80 }) {
            guard let ascii = InternationalName.encode(host) else { return nil }
            host = ascii
        } else {
            for index in host.indices { host[index] = host[index].lowercased }
        }
        guard host.allSatisfy({ ByteSet.host.contains($0) }), !hasEmptyLabel(host) else { return nil }
        guard readsNumbersAsIPv4, host.endsInNumber else { return host }
        return IPv4Address(host).map { Array($0.description.utf8) }
    }

    /// Whether a label is empty; a single dot at the end is the DNS root and does not count.
    private static func hasEmptyLabel(_ host: [UInt8]) -> Bool {
        var previous = UInt8(ascii: ".")
        for byte in host {
            if byte == UInt8(ascii: "."), previous == byte { return true }
            previous = byte
        }
        return false
    }
}

/// Host names in other scripts, converted to ASCII by RFC 5890 and RFC 3492.
enum InternationalName {
    /// The host with each non-ASCII label as `xn--…`, or `nil` when a label has a character that is not allowed.
    static func encode(_ host: [UInt8]) -> [UInt8]? {
        guard let text = String(validating: host, as: UTF8.self) else { return nil }
        let labels = text.lowercased().unicodeScalars.split(
            omittingEmptySubsequences: false,
            whereSeparator: isLabelSeparator
        )
        var encoded: [UInt8] = []
        for (position, label) in labels.enumerated() {
            if position > 0 { encoded.append(UInt8(ascii: ".")) }
            if label.allSatisfy(\.isASCII) {
                encoded.append(contentsOf: String(label).utf8)
            } else {
                // A longer label cannot be in the DNS (RFC 1035 §2.3.4), and encoding takes time quadratic in its
                // length.
                guard label.count <= 63, label.allSatisfy(isStable), let digits = Punycode.encode(Array(label)) else {
                    return nil
                }
                encoded.append(contentsOf: "xn--".utf8)
                encoded.append(contentsOf: digits)
            }
        }
        return encoded
    }

    /// The dots of RFC 3490 §3.1.
    private static func isLabelSeparator(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "." || scalar == "\u{3002}" || scalar == "\u{FF0E}" || scalar == "\u{FF61}"
    }

    /// Whether UTS 46 would not map the character, as far as the standard library shows.
    private static func isStable(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return ByteSet.host.contains(UInt8(scalar.value)) }
        // `ß` and the final sigma are separate letters since IDNA 2008.
        if scalar == "\u{DF}" || scalar == "\u{3C2}" { return true }
        // A separate accent needs composing (NFC), which the standard library does not offer.
        if (0x300...0x36F).contains(scalar.value) || scalar.properties.changesWhenNFKCCaseFolded { return false }
        switch scalar.properties.generalCategory {
        case .lowercaseLetter, .modifierLetter, .otherLetter, .nonspacingMark, .spacingMark, .decimalNumber,
            .otherSymbol:
            return true
        default:
            return scalar == "\u{B7}" || scalar == "\u{30FB}"
        }
    }
}

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
            guard let digit = byte.hexadecimalDigit else { return nil }
            value = value << 4 | UInt16(digit)
        }
        return [value]
    }
}

/// An IPv4 address, parsed as URL libraries and `inet_aton` do: `127.1`, `0x7f.0.0.1`, `017700000001`.
///
/// https://url.spec.whatwg.org/#concept-ipv4-parser
struct IPv4Address: CustomStringConvertible {
    let value: UInt32

    init?(_ host: [UInt8]) {
        var parts = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if parts.count > 1, parts.last?.isEmpty == true { parts.removeLast() }
        guard let last = parts.popLast(), parts.count <= 3, let tail = Self.number(last) else { return nil }

        var value: UInt64 = 0
        for part in parts {
            guard let number = Self.number(part), number <= 255 else { return nil }
            value = value << 8 | number
        }
        let tailBits = UInt64(32 - 8 * parts.count)
        guard tail < 1 << tailBits else { return nil }
        self.value = UInt32(value << tailBits | tail)
    }

    var description: String {
        "\(value >> 24).\(value >> 16 & 255).\(value >> 8 & 255).\(value & 255)"
    }

    /// Whether the bytes are four decimal numbers up to 255 without leading zeros.
    static func isCanonical(_ host: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var dots = 0
        var digits = 0
        var value = 0
        for byte in host {
            if byte == UInt8(ascii: ".") {
                guard digits > 0 else { return false }
                dots += 1
                digits = 0
                value = 0
            } else {
                guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9"), digits == 0 || value > 0 else {
                    return false
                }
                digits += 1
                value = value * 10 + Int(byte - UInt8(ascii: "0"))
                guard value <= 255 else { return false }
            }
        }
        return dots == 3 && digits > 0
    }

    /// A decimal, octal (`0…`) or hexadecimal (`0x…`) number; `nil` when the text is not a number or too large for any
    /// address.
    private static func number(_ text: ArraySlice<UInt8>) -> UInt64? {
        guard !text.isEmpty else { return nil }
        var digits = text
        var radix: UInt64 = 10
        if text.count >= 2, text.first == UInt8(ascii: "0") {
            let isHexadecimal = text[text.startIndex + 1] | 0x20 == UInt8(ascii: "x")
            radix = isHexadecimal ? 16 : 8
            digits = text.dropFirst(isHexadecimal ? 2 : 1)
        }
        var value: UInt64 = 0
        for byte in digits {
            guard let digit = byte.hexadecimalDigit, digit < radix else { return nil }
            value = value * radix + UInt64(digit)
            guard value <= UInt32.max else { return nil }
        }
        return value
    }
}

/// The encoder of RFC 3492 §6.3, with the parameters of §5.
enum Punycode {
    /// The ASCII form of one label without its `xn--`, or `nil` when the label is too long.
    static func encode(_ label: [Unicode.Scalar]) -> [UInt8]? {
        var output = label.filter(\.isASCII).map { UInt8($0.value) }
        let basicCount = output.count
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }

        var codePoint: UInt32 = 128
        var delta: UInt32 = 0
        var bias: UInt32 = 72
        var handled = basicCount
        while handled < label.count {
            guard let next = label.lazy.map(\.value).filter({ $0 >= codePoint }).min() else { return nil }
            let (step, tooFar) = (next - codePoint).multipliedReportingOverflow(by: UInt32(handled) + 1)
            let (sum, overflow) = delta.addingReportingOverflow(step)
            guard !tooFar, !overflow else { return nil }
            delta = sum
            codePoint = next
            for scalar in label {
                if scalar.value < codePoint { delta += 1 }
                guard scalar.value == codePoint else { continue }
                appendVariableLength(delta, bias: bias, to: &output)
                bias = adapted(delta, count: UInt32(handled) + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            codePoint += 1
        }
        return output
    }

    private static func appendVariableLength(_ delta: UInt32, bias: UInt32, to output: inout [UInt8]) {
        var rest = delta
        var position: UInt32 = 36
        while true {
            let threshold = position <= bias ? 1 : position >= bias + 26 ? 26 : position - bias
            if rest < threshold { break }
            output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
            rest = (rest - threshold) / (36 - threshold)
            position += 36
        }
        output.append(digit(rest))
    }

    private static func digit(_ value: UInt32) -> UInt8 {
        value < 26 ? UInt8(ascii: "a") + UInt8(value) : UInt8(ascii: "0") + UInt8(value - 26)
    }

    /// RFC 3492 §6.1.
    private static func adapted(_ delta: UInt32, count: UInt32, isFirst: Bool) -> UInt32 {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var bias: UInt32 = 0
        while delta > 455 {
            delta /= 35
            bias += 36
        }
        return bias + 36 * delta / (delta + 38)
    }
}
