#if Gateway
/// Character references in the value of an attribute (HTML §13.2.5.72 to §13.2.5.80).
enum CharacterReferences {
    /// The value of an attribute as a browser takes it.
    ///
    /// Only references to ASCII characters are decoded by name: all others stay as they are, as no host and no keyword
    /// contains them.
    ///
    /// - Parameters:
    ///   - text: The bytes as they were sent.
    ///   - range: The value without its quotes.
    /// - Returns: The decoded value.
    static func decoded(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> MappedBytes {
        guard text.first(UInt8(ascii: "&"), from: range.lowerBound, to: range.upperBound) != nil else {
            return MappedBytes(text[range], at: range.lowerBound)
        }
        var value = MappedBytes(capacity: range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            if text[index] == UInt8(ascii: "&"), let (scalars, end) = reference(text, index, range.upperBound) {
                for scalar in scalars { value.append(scalar, at: index) }
                index = end
            } else {
                value.append(text[index], at: index)
                index += 1
            }
        }
        value.end(at: range.upperBound)
        return value
    }

    private static func reference(
        _ text: UnsafeBufferPointer<UInt8>,
        _ start: Int,
        _ end: Int
    ) -> (String.UnicodeScalarView, Int)? {
        guard start + 1 < end else { return nil }
        if text[start + 1] == UInt8(ascii: "#") { return numeric(text, start + 2, end) }
        var last = start + 1
        while last < end, last - start <= longestName, Characters.isAlphanumeric(text[last]) { last += 1 }
        let name = String(decoding: text[(start + 1)..<last], as: UTF8.self)
        if last < end, text[last] == UInt8(ascii: ";") {
            return named[name].map { ($0.unicodeScalars, last + 1) }
        }
        // Without a semicolon only the oldest names count, and not before what may be a query's next name.
        guard withoutSemicolon.contains(name), last == end || text[last] != UInt8(ascii: "="),
            let character = named[name]
        else { return nil }
        return (character.unicodeScalars, last)
    }

    private static func numeric(
        _ text: UnsafeBufferPointer<UInt8>,
        _ start: Int,
        _ end: Int
    ) -> (String.UnicodeScalarView, Int)? {
        var index = start
        let isHex = index < end && text[index] | 0x20 == UInt8(ascii: "x")
        if isHex { index += 1 }
        let first = index
        var code: UInt32 = 0
        while index < end, let digit = Characters.hexValue(text[index]), isHex || digit < 10 {
            code = min(code * (isHex ? 16 : 10) + digit, 0x11_0000)
            index += 1
        }
        guard index > first else { return nil }
        if index < end, text[index] == UInt8(ascii: ";") { index += 1 }
        // Zero, surrogates and too large numbers stand for the replacement character. Numbers from 128 to 159 stand for
        // characters of windows-1252; none of them matters here.
        let scalar = code == 0 ? nil : Unicode.Scalar(code)
        return (String(Character(scalar ?? "\u{fffd}")).unicodeScalars, index)
    }

    private static let longestName = 18
    private static let withoutSemicolon: Set<String> = ["quot", "QUOT", "amp", "AMP", "lt", "LT", "gt", "GT"]
    /// The names of ASCII characters (HTML §13.5).
    private static let named: [String: String] = [
        "Tab": "\t", "NewLine": "\n", "excl": "!", "quot": "\"", "QUOT": "\"", "num": "#", "dollar": "$",
        "percnt": "%", "amp": "&", "AMP": "&", "apos": "'", "lpar": "(", "rpar": ")", "ast": "*", "midast": "*",
        "plus": "+", "comma": ",", "period": ".", "sol": "/", "colon": ":", "semi": ";", "lt": "<", "LT": "<",
        "equals": "=", "gt": ">", "GT": ">", "quest": "?", "commat": "@", "lsqb": "[", "lbrack": "[", "bsol": "\\",
        "rsqb": "]", "rbrack": "]", "Hat": "^", "lowbar": "_", "UnderBar": "_", "grave": "`",
        "DiacriticalGrave": "`", "lcub": "{", "lbrace": "{", "verbar": "|", "vert": "|", "VerticalLine": "|",
        "rcub": "}", "rbrace": "}", "fjlig": "fj",
    ]
}
#endif
