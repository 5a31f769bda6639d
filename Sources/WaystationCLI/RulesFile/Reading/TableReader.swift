import WaystationHTTP
import WaystationStorage

/// Reads the values of one table; a key that was not asked for is a mistake.
///
/// Each reading adds its mistake to the list and returns nil, so that reading continues.
struct TableReader {
    let table: TOMLTable
    /// The table in messages, such as `[cache]`.
    let name: String
    let faults: FaultList
    /// The keys that the table may have.
    private(set) var known: [String] = []

    init(_ table: TOMLTable, _ name: String, _ faults: FaultList) {
        self.table = table
        self.name = name
        self.faults = faults
    }

    /// A value and its place.
    struct Located<Value> {
        let value: Value
        let range: Range<Int>
    }

    /// The value of a key; nil if the table does not have it.
    mutating func value(_ key: String) -> TOMLValue? {
        if !known.contains(key) { known.append(key) }
        return table.entry(key)?.value
    }

    /// The value of a key in a form of its own.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - expected: The form in words, for messages.
    ///   - convert: Returns the value; nil if it has another form.
    /// - Returns: The value; nil if the key is missing or has another form.
    mutating func read<Value>(
        _ key: String,
        _ expected: String,
        _ convert: (TOMLValue) -> Value?
    ) -> Located<Value>? {
        guard let written = value(key) else { return nil }
        guard let value = convert(written) else {
            let hint =
                written.text.flatMap { Int($0) } != nil && expected.hasPrefix("a number") ? ", without quotes" : ""
            faults.add(written.range, "`\(key)` is \(written.shown); expected \(expected)\(hint)")
            return nil
        }
        return Located(value: value, range: written.range)
    }

    /// Adds a mistake if a key is missing that the table needs.
    ///
    /// If the table has a misspelt form of the key, the mistake about that form is enough.
    func require(_ key: String, _ reason: String) {
        guard table.entry(key) == nil, !table.isIncomplete else { return }
        guard !table.entries.contains(where: { Spelling.suggestion(for: $0.key.name, among: [key]) != nil }) else {
            return
        }
        faults.add(table.range, "`\(key)` is missing: \(reason)")
    }

    /// Adds a mistake for each key that was not read.
    ///
    /// - Parameter explain: Returns a message for a key that is known elsewhere.
    func refuseOthers(_ explain: (String) -> String? = { _ in nil }) {
        for entry in table.entries where !known.contains(entry.key.name) {
            let key = entry.key.name
            if let explanation = explain(key) {
                faults.add(entry.key.range, explanation)
                continue
            }
            let advice =
                Spelling.suggestion(for: key, among: known).map { "did you mean `\($0)`?" }
                ?? "\(name) may have \(Words.list(known.map { "`\($0)`" }, "and"))"
            faults.add(entry.key.range, "`\(entry.key.shown)` is not a key of \(name): \(advice)")
        }
    }
}

extension TOMLValue {
    /// The value in the words of a message.
    var shown: String {
        switch kind {
        case .string(let string): "\"\(string.text.shown())\""
        case .integer(let number): "\(number)"
        case .float(let number): "\(number)"
        case .boolean(let value): "\(value)"
        case .date(let text): "the date \(text)"
        case .array: "an array"
        case .table: "a table"
        }
    }

    var string: TOMLString? { if case .string(let string) = kind { string } else { nil } }
    var text: String? { string?.text }
    var boolean: Bool? { if case .boolean(let value) = kind { value } else { nil } }
    var integer: Int? { if case .integer(let number) = kind { number } else { nil } }
    var table: TOMLTable? { if case .table(let table) = kind { table } else { nil } }
    var elements: [TOMLValue]? { if case .array(let array) = kind { array.elements } else { nil } }
    /// The value itself, or the values of an array: for keys that take one or several.
    var oneOrMore: [TOMLValue] { elements ?? [self] }
}

extension TableReader {
    mutating func boolean(_ key: String) -> Bool? { read(key, "`true` or `false`", \.boolean)?.value }

    mutating func number(_ key: String, in range: ClosedRange<Int>, _ expected: String) -> Int? {
        read(key, expected) { $0.integer.flatMap { range.contains($0) ? $0 : nil } }?.value
    }

    /// A size, as text or as a number of bytes.
    mutating func size(_ key: String) -> ByteCount? {
        read(key, "a size such as \"200MB\", \"64KiB\" or 1000") { value in
            value.text.flatMap(ByteCount.init(written:)) ?? value.integer.flatMap { $0 >= 0 ? .bytes($0) : nil }
        }?.value
    }

    mutating func duration(_ key: String) -> Duration? {
        read(key, "a time such as \"90s\", \"15m\", \"12h\" or \"30d\"") { $0.text.flatMap(Duration.init(written:)) }?
            .value
    }

    /// A time after which something is ended; with less than a second nothing would ever arrive in time.
    mutating func timeout(_ key: String) -> Duration? {
        read(key, "a time of at least a second, such as \"90s\" or \"15m\"") { value in
            value.text.flatMap(Duration.init(written:)).flatMap { $0 < .seconds(1) ? nil : $0 }
        }?.value
    }

    mutating func path(
        _ key: String,
        _ source: SourceText,
        _ expected: String = "the path of a directory, such as \"site\""
    ) -> PathSetting? {
        let path = read(key, expected) { value in
            value.text.flatMap { $0.isEmpty || $0.contains("\0") ? nil : $0 }
        }
        return path.map { PathSetting(path: $0.value, place: source.place(of: $0.range)) }
    }

    /// One of several words; the message for another one suggests the closest.
    mutating func word(_ key: String, of words: [String]) -> String? {
        guard let written = value(key) else { return nil }
        return Self.word(written, key, of: words, faults)
    }

    static func word(_ written: TOMLValue, _ key: String, of words: [String], _ faults: FaultList) -> String? {
        if let text = written.text, words.contains(text) { return text }
        let suggestion = written.text.flatMap { Spelling.suggestion(for: $0, among: words) }
        let expected =
            suggestion.map { "did you mean \"\($0)\"?" }
            ?? "expected \(Words.list(words.map { "\"\($0)\"" }, "or"))"
        faults.add(written.range, "`\(key)` is \(written.shown); \(expected)")
        return nil
    }

    /// The texts of a key that takes one or several.
    mutating func texts(_ key: String, _ expected: String, _ isValid: (String) -> Bool) -> [String]? {
        guard let written = value(key) else { return nil }
        if written.elements?.isEmpty == true {
            faults.add(written.range, "`\(key)` is an empty array; expected \(expected)")
        }
        return written.oneOrMore.compactMap { element in
            guard let text = element.text, isValid(text) else {
                faults.add(element.range, "`\(key)` is \(element.shown); expected \(expected)")
                return nil
            }
            return text
        }
    }
}

extension CanonicalURL {
    /// The URL for a text, if pages can be loaded from it.
    static func page(_ text: String) -> CanonicalURL? {
        CanonicalURL(text).flatMap { $0.scheme == "https" || $0.scheme == "http" ? $0 : nil }
    }
}

extension Words {
    /// Words as a list, such as `a, b and c`.
    static func list(_ words: [String], _ conjunction: String) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " \(conjunction) \(last)"
    }
}
