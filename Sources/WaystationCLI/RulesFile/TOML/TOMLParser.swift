import WaystationHTTP

/// Reads a TOML 1.0 document into tables whose keys and values know their places.
///
/// A mistake ends the line that it is in; reading continues with the next line that looks like one, so that one reading
/// finds the mistakes of all lines.
struct TOMLParser {
    let scalars: [Unicode.Scalar]
    var position = 0
    private let document: TOMLTable
    /// The table to which keys belong at present.
    private var table: TOMLTable
    private var faults: [Fault] = []

    private init(_ scalars: [Unicode.Scalar]) {
        self.scalars = scalars
        document = TOMLTable(.document, 0..<0)
        table = document
    }

    /// Reads a document.
    ///
    /// - Returns: The document as far as it could be read, and its mistakes.
    static func parse(_ source: SourceText) -> (document: TOMLTable, faults: [Fault]) {
        var parser = TOMLParser(source.scalars)
        while parser.position < parser.scalars.count { parser.parseLine() }
        return (parser.document, parser.faults)
    }

    private mutating func parseLine() {
        let start = position
        do throws(Fault) {
            skipBlanks()
            if next == "[" {
                try parseHeader()
            } else if let next, !"#\r\n".unicodeScalars.contains(next) {
                try parsePair(in: table)
            }
            try endLine()
        } catch {
            faults.append(error)
            table.isIncomplete = true
            // A value without its end has taken the lines after it, so reading goes back to the first of them.
            position = start
            skipToNextLine()
        }
    }

    // MARK: - Headers

    private mutating func parseHeader() throws(Fault) {
        let start = position
        // The keys below a header with a mistake belong to no table.
        table = TOMLTable(.header, start..<start)
        // Whatever the header was meant to begin may be missing in the document.
        let wasIncomplete = document.isIncomplete
        document.isIncomplete = true
        position += 1
        let isElement = next == "["
        if isElement { position += 1 }
        skipBlanks()
        let keys = try parseKeys()
        let closing = isElement ? "]]" : "]"
        for _ in 0..<closing.count {
            guard next == "]" else { throw fault("expected `\(closing)` after the name of the table, found \(found)") }
            position += 1
        }
        table.range = start..<position
        guard let last = keys.last else { return }
        let parent = try parent(of: keys)
        table = try isElement ? element(last, in: parent) : named(last, in: parent)
        document.isIncomplete = wasIncomplete
    }

    /// The table that holds the last part of a header's name.
    private func parent(of keys: [TOMLKey]) throws(Fault) -> TOMLTable {
        var parent = document
        for key in keys.dropLast() {
            switch parent.entry(key.name)?.value.kind {
            case nil:
                let implied = TOMLTable(.implied, key.range)
                parent.add(key, TOMLValue(kind: .table(implied), range: key.range))
                parent = implied
            case .table(let inner) where inner.origin != .inline: parent = inner
            case .array(let array):
                guard array.isOfTables, case .table(let inner) = array.elements.last?.kind else {
                    throw Fault(key.range, "`\(key.shown)` is an array, which cannot hold the table of this header")
                }
                parent = inner
            default:
                throw Fault(key.range, "`\(key.shown)` has a value already, so it cannot hold the table of this header")
            }
        }
        return parent
    }

    private func named(_ key: TOMLKey, in parent: TOMLTable) throws(Fault) -> TOMLTable {
        guard let entry = parent.entry(key.name) else {
            let made = TOMLTable(.header, table.range)
            parent.add(key, TOMLValue(kind: .table(made), range: table.range))
            return made
        }
        guard case .table(let known) = entry.value.kind, known.origin == .implied else {
            throw Fault(key.range, "`\(key.shown)` is in the file twice: put all of its keys under one header")
        }
        known.origin = .header
        known.range = table.range
        return known
    }

    private func element(_ key: TOMLKey, in parent: TOMLTable) throws(Fault) -> TOMLTable {
        let made = TOMLTable(.header, table.range)
        let value = TOMLValue(kind: .table(made), range: table.range)
        switch parent.entry(key.name)?.value.kind {
        case nil:
            let array = TOMLArray(isOfTables: true)
            array.add(value)
            parent.add(key, TOMLValue(kind: .array(array), range: table.range))
        case .array(let array) where array.isOfTables: array.add(value)
        default:
            throw Fault(
                key.range,
                "`\(key.shown)` is in the file already, but not as a list: write each of its entries as `[[\(key.shown)]]`"
            )
        }
        return made
    }

    // MARK: - Keys and values

    /// Reads `key = value` into a table.
    private mutating func parsePair(in table: TOMLTable, depth: Int = 0) throws(Fault) {
        let keys = try parseKeys()
        guard next == "=" else {
            throw fault("expected `=` and a value after the key, found \(found)")
        }
        position += 1
        skipBlanks()
        let value = try parseValue(depth: depth)
        guard let last = keys.last else { return }
        var holder = table
        for key in keys.dropLast() {
            switch holder.entry(key.name)?.value.kind {
            case nil:
                let inner = TOMLTable(.dotted, key.range)
                holder.add(key, TOMLValue(kind: .table(inner), range: key.range))
                holder = inner
            case .table(let inner) where inner.origin == .dotted: holder = inner
            default:
                throw Fault(key.range, "`\(key.shown)` has a value already, so a dotted key cannot add to it")
            }
        }
        if holder.entry(last.name) != nil {
            throw Fault(last.range, "`\(last.shown)` is set twice: remove one of the two lines")
        }
        holder.add(last, value)
    }

    /// Reads a key of one or more parts, and the blanks after it.
    private mutating func parseKeys() throws(Fault) -> [TOMLKey] {
        var keys: [TOMLKey] = []
        while true {
            keys.append(try parseKey())
            guard keys.count <= Self.maximumDepth else {
                throw fault("a key has at most \(Self.maximumDepth) parts")
            }
            skipBlanks()
            guard next == "." else { return keys }
            position += 1
            skipBlanks()
        }
    }

    private mutating func parseKey() throws(Fault) -> TOMLKey {
        let start = position
        if next == "\"" || next == "'" {
            if starts(with: "\"\"\"") || starts(with: "'''") {
                throw fault("expected a key on one line, found \(found)")
            }
            let name = try parseString().text
            return TOMLKey(name: name, range: start..<position)
        }
        while let next, next.isOfBareKey { position += 1 }
        guard position > start else {
            throw fault("expected a key, of letters, digits, `-` and `_` or in quotes, found \(found)")
        }
        var name = ""
        name.unicodeScalars.append(contentsOf: scalars[start..<position])
        return TOMLKey(name: name, range: start..<position)
    }

    // MARK: - Lines

    private mutating func endLine() throws(Fault) {
        skipBlanks()
        try skipComment()
        guard position < scalars.count, !skipLineEnd() else { return }
        throw fault("expected the end of the line, found \(found)")
    }

    /// Skips the rest of a line with a mistake, and the lines after it that belong to an array or a text in it.
    private mutating func skipToNextLine() {
        repeat {
            while position < scalars.count, scalars[position] != "\n" { position += 1 }
            position = min(position + 1, scalars.count)
        } while position < scalars.count && !looksLikeLine
    }

    private var looksLikeLine: Bool {
        var index = position
        while index < scalars.count, scalars[index].isBlank { index += 1 }
        guard index < scalars.count else { return true }
        if "#\r\n[".unicodeScalars.contains(scalars[index]) { return true }
        let line = scalars[index...].prefix { $0 != "\n" }
        guard let equals = line.firstIndex(of: "=") else { return false }
        return line[..<equals].allSatisfy { $0.isOfBareKey || $0.isBlank || $0 == "." || $0 == "\"" }
    }
}

extension TOMLParser {
    /// The next scalar; nil at the end of the document.
    var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

    /// The next scalar in the words of a message.
    var found: String {
        switch next {
        case nil: "the end of the file"
        case "\n": "the end of the line"
        case "\r" where starts(with: "\r\n"): "the end of the line"
        case let scalar?: "`\(String(scalar).shown())`"
        }
    }

    func starts(with text: String) -> Bool { scalars[position...].starts(with: text.unicodeScalars) }

    /// A mistake at the next scalar.
    func fault(_ message: String) -> Fault { Fault(position..<position + 1, message) }

    mutating func skipBlanks() {
        while let next, next.isBlank { position += 1 }
    }

    /// Skips the end of a line.
    ///
    /// - Returns: Whether there was one.
    mutating func skipLineEnd() -> Bool {
        let length = next == "\n" ? 1 : starts(with: "\r\n") ? 2 : 0
        position += length
        return length > 0
    }

    private mutating func skipComment() throws(Fault) {
        guard next == "#" else { return }
        while let next, next != "\n", !starts(with: "\r\n") {
            guard !next.isForbiddenControl else {
                throw fault("a comment must not have the control character \(found)")
            }
            position += 1
        }
    }
}

extension TOMLKey {
    /// The key in the words of a message.
    var shown: String { name.shown() }
}

extension Unicode.Scalar {
    var isBlank: Bool { self == " " || self == "\t" }

    fileprivate var isOfBareKey: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_": true
        default: false
        }
    }

    /// Whether neither comments nor texts may have the scalar.
    var isForbiddenControl: Bool { value < 0x20 && self != "\t" || value == 0x7F }
}

extension TOMLParser {
    /// Nested arrays and tables beyond this depth are refused, because each of them takes some of the stack.
    static let maximumDepth = 32

    /// Reads a value.
    private mutating func parseValue(depth: Int) throws(Fault) -> TOMLValue {
        guard depth < Self.maximumDepth else {
            throw fault("arrays and tables are nested more than \(Self.maximumDepth) deep")
        }
        let start = position
        let kind: TOMLValue.Kind
        switch next {
        case "\"", "'": kind = .string(try parseString())
        case "[": kind = .array(try parseArray(depth: depth))
        case "{": kind = .table(try parseInlineTable(depth: depth))
        case nil, "\n", "\r", "#": throw fault("expected a value after `=`, found \(found)")
        default: kind = try parseScalar()
        }
        return TOMLValue(kind: kind, range: start..<position)
    }

    /// Words that other formats have for `true` and `false`.
    private static let booleans = [
        "true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false",
    ]

    private mutating func parseScalar() throws(Fault) -> TOMLValue.Kind {
        let start = position
        skipWord()
        // A date and a time may have a blank between them.
        if position - start == 10, scalars[start + 4] == "-", next == " ", position + 3 < scalars.count,
            scalars[position + 3] == ":"
        {
            position += 1
            skipWord()
        }
        if position == start { throw fault("expected a value, found \(found)") }
        let word = String(String.UnicodeScalarView(scalars[start..<position]))
        if let value = TOMLScalar.value(of: word) { return value }
        let end = position
        position = start
        if let boolean = Self.booleans[word.lowercased()] {
            throw Fault(start..<end, "`\(word)` is not a value of TOML: write `\(boolean)`")
        }
        let isWord = word.allSatisfy { $0.isLetter || $0 == "-" || $0 == "_" } || word.contains(":")
        let hint = isWord ? ": write text in quotes, as in \"\(word.shown())\"" : ""
        throw Fault(start..<end, "`\(word.shown())` is not a number, a date, `true` or `false`\(hint)")
    }

    private mutating func skipWord() {
        while let next, !next.isBlank, !",]}#\r\n\"'[{=".unicodeScalars.contains(next) { position += 1 }
    }

    private mutating func parseArray(depth: Int) throws(Fault) -> TOMLArray {
        let array = TOMLArray(isOfTables: false)
        let start = position
        position += 1
        try skipLines()
        while next != "]" {
            if next == nil { throw Fault(start..<start + 1, "the array has no `]`") }
            array.add(try parseValue(depth: depth + 1))
            try skipLines()
            if next == "," {
                position += 1
                try skipLines()
            } else if next == nil {
                throw Fault(start..<start + 1, "the array has no `]`")
            } else if next != "]" {
                throw fault("expected `,` or `]` after the value of an array, found \(found)")
            }
        }
        position += 1
        return array
    }

    private mutating func parseInlineTable(depth: Int) throws(Fault) -> TOMLTable {
        let start = position
        let table = TOMLTable(.dotted, start..<start + 1)
        position += 1
        skipBlanks()
        if next != "}" {
            while true {
                try parsePair(in: table, depth: depth + 1)
                skipBlanks()
                if next == "}" { break }
                guard next == "," else {
                    throw fault("expected `,` or `}` after the value of a table in braces, found \(found)")
                }
                position += 1
                skipBlanks()
            }
        }
        position += 1
        table.close(as: start..<position)
        return table
    }

    /// Skips blanks, comments and ends of lines, which arrays may have between their values.
    private mutating func skipLines() throws(Fault) {
        repeat {
            skipBlanks()
            try skipComment()
        } while skipLineEnd()
    }
}

extension TOMLTable {
    /// Marks the table as complete, with the tables that dotted keys made in it.
    fileprivate func close(as range: Range<Int>) {
        self.range = range
        origin = .inline
        for entry in entries {
            if case .table(let inner) = entry.value.kind, inner.origin == .dotted { inner.close(as: inner.range) }
        }
    }
}

/// The values that are written without quotes and brackets: numbers, booleans and dates.
enum TOMLScalar {
    /// Reads a word.
    ///
    /// - Returns: The value; nil if the word has none of the forms of TOML 1.0.
    static func value(of word: String) -> TOMLValue.Kind? {
        switch word {
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "inf", "+inf": return .float(.infinity)
        case "-inf": return .float(-.infinity)
        case "nan", "+nan", "-nan": return .float(.nan)
        default: break
        }
        if let integer = integer(word) { return .integer(integer) }
        if word.wholeMatch(of: #/[+-]?(0|[1-9](_?[0-9])*)(\.[0-9](_?[0-9])*)?([eE][+-]?[0-9](_?[0-9])*)?/#) != nil,
            word.contains(where: { ".eE".contains($0) }), let float = Double(digits(word))
        {
            return .float(float)
        }
        return isDate(word) ? .date(word) : nil
    }

    private static func integer(_ word: String) -> Int? {
        if word.wholeMatch(of: #/[+-]?(0|[1-9](_?[0-9])*)/#) != nil { return Int(digits(word)) }
        let bases: [(prefix: String, radix: Int)] = [("0x", 16), ("0o", 8), ("0b", 2)]
        guard let base = bases.first(where: { word.hasPrefix($0.prefix) }) else { return nil }
        let rest = word.dropFirst(2)
        guard rest.wholeMatch(of: #/[0-9A-Fa-f](_?[0-9A-Fa-f])*/#) != nil else { return nil }
        return Int(digits(String(rest)), radix: base.radix)
    }

    private static func digits(_ word: String) -> String { word.filter { $0 != "_" } }

    private static func isDate(_ word: String) -> Bool {
        if isTime(word[...]) { return true }
        guard let match = word.prefixMatch(of: #/([0-9]{4})-([0-9]{2})-([0-9]{2})/#), let year = Int(match.1),
            let month = Int(match.2), let day = Int(match.3), (1...12).contains(month)
        else { return false }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...days[month - 1]).contains(day) else { return false }
        let rest = word[match.range.upperBound...]
        guard let separator = rest.first else { return true }
        guard "Tt ".contains(separator) else { return false }
        let time = rest.dropFirst()
        guard let zone = time.firstMatch(of: #/([Zz]|[+-]([0-9]{2}):([0-9]{2}))$/#) else { return isTime(time) }
        if let hours = zone.2.flatMap({ Int($0) }), let minutes = zone.3.flatMap({ Int($0) }) {
            guard hours < 24, minutes < 60 else { return false }
        }
        return isTime(time[..<zone.range.lowerBound])
    }

    private static func isTime(_ word: Substring) -> Bool {
        guard let match = word.wholeMatch(of: #/([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?/#), let hour = Int(match.1),
            let minute = Int(match.2), let second = Int(match.3)
        else { return false }
        return hour < 24 && minute < 60 && second < 60
    }
}
