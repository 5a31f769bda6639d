import WaystationRules
import WaystationStorage

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

    mutating func path(_ key: String, _ source: SourceText) -> PathSetting? {
        let path = read(key, "the path of a directory, such as \"site\"") { value in
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
