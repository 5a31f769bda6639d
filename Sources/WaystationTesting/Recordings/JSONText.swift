import WaystationHTTP

/// JSON in a form in which equal values have equal texts (RFC 8259).
///
/// Members are in the order of their names, numbers are without superfluous digits, and strings have only the necessary
/// escapes. No number is rounded, and no character is replaced by an equivalent one.
enum JSONText {
    /// The canonical form of a document; nil if the text is not JSON.
    static func canonical(_ text: String) -> String? {
        var reader = Reader(bytes: Array(text.utf8))
        guard let result = reader.value(depth: 0), reader.isAtEnd else { return nil }
        return String(decoding: result, as: UTF8.self)
    }

    private struct Reader {
        let bytes: [UInt8]
        private var place = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        /// Whether only white space follows.
        var isAtEnd: Bool { bytes[place...].allSatisfy { Self.blanks.contains($0) } }

        private static let blanks = Array(" \t\r\n".utf8)
        private static let deepest = 500

        private mutating func skipBlanks() {
            while place < bytes.count, Self.blanks.contains(bytes[place]) { place += 1 }
        }

        private mutating func take(_ character: Unicode.Scalar) -> Bool {
            skipBlanks()
            guard place < bytes.count, bytes[place] == UInt8(ascii: character) else { return false }
            place += 1
            return true
        }

        mutating func value(depth: Int) -> [UInt8]? {
            skipBlanks()
            guard place < bytes.count, depth < Self.deepest else { return nil }
            switch bytes[place] {
            case UInt8(ascii: "{"): return object(depth)
            case UInt8(ascii: "["): return array(depth)
            case UInt8(ascii: "\""): return string()
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return number()
            default: return ["true", "false", "null"].lazy.map { Array($0.utf8) }.first { literal($0) }
            }
        }

        private mutating func literal(_ word: [UInt8]) -> Bool {
            guard bytes[place...].starts(with: word) else { return false }
            place += word.count
            return true
        }

        private mutating func object(_ depth: Int) -> [UInt8]? {
            place += 1
            var members: [(name: [UInt8], value: [UInt8])] = []
            while !take("}") {
                guard members.isEmpty || take(",") else { return nil }
                skipBlanks()
                guard let name = string(), take(":"), let value = value(depth: depth + 1) else { return nil }
                members.append((name, value))
            }
            // Members of one name keep their order, since it decides which of them counts.
            let sorted = members.enumerated().sorted { left, right in
                left.element.name == right.element.name
                    ? left.offset < right.offset : left.element.name.lexicographicallyPrecedes(right.element.name)
            }
            let texts = sorted.map { $0.element.name + Array(":".utf8) + $0.element.value }
            return Array("{".utf8) + texts.joined(separator: ",".utf8) + Array("}".utf8)
        }

        private mutating func array(_ depth: Int) -> [UInt8]? {
            place += 1
            var elements: [[UInt8]] = []
            while !take("]") {
                guard elements.isEmpty || take(","), let value = value(depth: depth + 1) else { return nil }
                elements.append(value)
            }
            return Array("[".utf8) + elements.joined(separator: ",".utf8) + Array("]".utf8)
        }

        private mutating func string() -> [UInt8]? {
            guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") else { return nil }
            place += 1
            var result = Array("\"".utf8)
            while place < bytes.count {
                let byte = bytes[place]
                place += 1
                switch byte {
                case UInt8(ascii: "\""): return result + [byte]
                case 0..<0x20: return nil
                case UInt8(ascii: "\\"):
                    guard let escaped = escape() else { return nil }
                    result += escaped
                default: result.append(byte)
                }
            }
            return nil
        }

        /// The character of an escape as it is written in the canonical form.
        private mutating func escape() -> [UInt8]? {
            guard place < bytes.count else { return nil }
            let byte = bytes[place]
            place += 1
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): return [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "/"): return [byte]
            case UInt8(ascii: "b"): return Self.written(8)
            case UInt8(ascii: "f"): return Self.written(12)
            case UInt8(ascii: "n"): return Self.written(10)
            case UInt8(ascii: "r"): return Self.written(13)
            case UInt8(ascii: "t"): return Self.written(9)
            case UInt8(ascii: "u"):
                guard let first = unit() else { return nil }
                if let scalar = Unicode.Scalar(first) { return Self.written(scalar) }
                let next = place
                if (0xD800..<0xDC00).contains(first), literal(Array("\\u".utf8)), let second = unit(),
                    (0xDC00..<0xE000).contains(second),
                    let scalar = Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + UInt32(second) - 0xDC00)
                {
                    return Self.written(scalar)
                }
                // Half of a pair stands for no character.
                place = next
                return Array("\\u\(String(first, radix: 16))".utf8)
            default: return nil
            }
        }

        private mutating func unit() -> UInt16? {
            guard place + 4 <= bytes.count, bytes[place..<place + 4].allSatisfy({ $0.hexadecimalDigit != nil }) else {
                return nil
            }
            defer { place += 4 }
            return UInt16(String(decoding: bytes[place..<place + 4], as: UTF8.self), radix: 16)
        }

        private static func written(_ scalar: Unicode.Scalar) -> [UInt8] {
            switch scalar {
            case "\"", "\\": [UInt8(ascii: "\\"), UInt8(ascii: scalar)]
            case _ where scalar.value < 0x20:
                Array("\\u00\(scalar.value < 16 ? "0" : "")\(String(scalar.value, radix: 16))".utf8)
            default: Array(String(Character(scalar)).utf8)
            }
        }

        private static func written(_ value: UInt8) -> [UInt8] { written(Unicode.Scalar(value)) }

        /// A number as its sign, its digits and its power of ten.
        private mutating func number() -> [UInt8]? {
            let start = place
            let isNegative = literal(Array("-".utf8))
            let whole = digits()
            guard !whole.isEmpty, whole.count == 1 || whole.first != UInt8(ascii: "0") else { return nil }
            var part: [UInt8] = []
            if literal(Array(".".utf8)) {
                part = digits()
                guard !part.isEmpty else { return nil }
            }
            var power = 0
            if literal(Array("e".utf8)) || literal(Array("E".utf8)) {
                let isSmall = literal(Array("-".utf8))
                if !isSmall { _ = literal(Array("+".utf8)) }
                let text = digits()
                guard !text.isEmpty else { return nil }
                // A power beyond all bounds is compared as it is written.
                guard text.count <= 15, let value = Int(String(decoding: text, as: UTF8.self)) else {
                    return Array(bytes[start..<place])
                }
                power = isSmall ? -value : value
            }
            var all = Array((whole + part).drop { $0 == UInt8(ascii: "0") })
            power -= part.count
            while all.last == UInt8(ascii: "0") {
                all.removeLast()
                power += 1
            }
            guard !all.isEmpty else { return Array("0".utf8) }
            let text = String(decoding: all, as: UTF8.self)
            return Array("\(isNegative ? "-" : "")\(text)\(power == 0 ? "" : "e\(power)")".utf8)
        }

        private mutating func digits() -> [UInt8] {
            let end = bytes[place...].firstIndex { !$0.isASCIIDigit } ?? bytes.count
            defer { place = end }
            return Array(bytes[place..<end])
        }
    }
}
