import WaystationFields

extension TOMLParser {
    /// Nested arrays and tables beyond this depth are refused, because each of them takes some of the stack.
    static let maximumDepth = 32

    /// Reads a value.
    mutating func parseValue(depth: Int) throws(Fault) -> TOMLValue {
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
        let hint = isWord ? ": write text in quotes, as in \"\(Shown.escaped(word))\"" : ""
        throw Fault(start..<end, "`\(Shown.escaped(word))` is not a number, a date, `true` or `false`\(hint)")
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
