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
