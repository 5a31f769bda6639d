import Waystation
import WaystationHTTP
import WaystationRecording

/// Reads one rule.
struct RuleReader {
    private static let sources = ["network", "cache", "files", "pack", "archive", "nowhere", "block"]
    /// The keys that belong to a source.
    private static let owners = [
        "directory": "files", "at": "files", "overlay": "pack", "archive": "archive", "as-of": "archive",
        "strategy": "cache", "maximum-age": "cache",
        "timeout": "cache", "validate-by": "cache", "tags": "cache", "ignore-query": "cache", "sort-query": "cache",
        "include-body": "cache", "check-digests": "cache",
    ]

    private let faults: FaultList
    private let source: SourceText
    private let hasCache: Bool
    private let hasPacks: Bool
    private var reader: TableReader

    init(_ table: TOMLTable, _ faults: FaultList, _ source: SourceText, hasCache: Bool, hasPacks: Bool) {
        self.faults = faults
        self.source = source
        self.hasCache = hasCache
        self.hasPacks = hasPacks
        reader = TableReader(table, "[[rule]]", faults)
    }

    /// Reads the rule.
    ///
    /// - Returns: The rule; nil if it has a mistake, which the list then holds.
    mutating func read() -> RuleSetting? {
        let count = faults.faults.count
        let patterns = patterns()
        let methods = reader.texts("methods", "the name of a method, such as \"GET\"") {
            $0.wholeMatch(of: #/[!#$%&'*+.^_`|~0-9A-Z-]+/#) != nil
        }
        let names = names()
        let sources = names.flatMap { self.sources($0) }
        reader.require("url", "write the pattern of the URLs, such as `url = \"https://shop.example/**\"`")
        reader.require("via", "write where the answers come from, such as `via = \"pack\"`")
        // Without the names of its sources it is not known which keys a rule may have.
        reader.refuseOthers { key in
            Self.owners[key].map { owner in
                "`\(key)` belongs to the source \"\(owner)\", which `via` of this rule does not name"
            }
        }
        guard faults.faults.count == count else { return nil }
        return RuleSetting(
            patterns: patterns,
            methods: methods.map(Set.init),
            sources: sources,
            place: source.place(of: reader.table.range)
        )
    }

    private mutating func patterns() -> [String] {
        let expected = "a pattern of URLs, such as \"https://shop.example/**\""
        guard let written = reader.value("url") else { return [] }
        if written.elements?.isEmpty == true {
            faults.add(written.range, "`url` is an empty array; expected \(expected)")
        }
        return written.oneOrMore.compactMap { element in
            guard let string = element.string else {
                faults.add(element.range, "`url` is \(element.shown); expected \(expected)")
                return nil
            }
            do throws(URLPatternError) {
                _ = try URLPattern(string.text)
                return string.text
            } catch {
                let range = string.range(fromUTF8: error.offset, in: element.range)
                faults.add(range.lowerBound..<range.lowerBound + 1, "`url`: expected \(error.expected)")
                return nil
            }
        }
    }

    /// The names of the sources; nil if they are missing or wrong.
    private mutating func names() -> [TableReader.Located<String>]? {
        guard let written = reader.value("via") else {
            _ = Self.owners.keys.map { reader.value($0) }
            return nil
        }
        let names = written.oneOrMore.compactMap { element in
            TableReader.word(element, "via", of: Self.sources, faults).map {
                TableReader.Located(value: $0, range: element.range)
            }
        }
        guard names.count == written.oneOrMore.count, !names.isEmpty else {
            if written.oneOrMore.isEmpty {
                faults.add(written.range, "`via` is an empty array; expected at least one source, such as \"network\"")
            }
            _ = Self.owners.keys.map { reader.value($0) }
            return nil
        }
        check(names)
        return names
    }

    /// Checks the order of the sources.
    private func check(_ names: [TableReader.Located<String>]) {
        for (index, name) in names.enumerated() {
            if names[..<index].contains(where: { $0.value == name.value }) {
                faults.add(name.range, "`via` names \"\(name.value)\" twice: each source is asked once")
            } else if name.value == "block", names.count > 1 {
                faults.add(
                    name.range,
                    "`via` names \"block\" beside other sources: a rule blocks requests or answers them"
                )
            } else if index < names.count - 1, !["files", "pack", "archive"].contains(name.value) {
                faults.add(
                    name.range,
                    "`via` names \"\(name.value)\" before other sources, which would then never be asked: put it last"
                )
            }
        }
    }

    /// The sources by their names; nil if the rule blocks.
    private mutating func sources(_ names: [TableReader.Located<String>]) -> [RuleSetting.Source]? {
        if names.count == 1, names.first?.value == "block" { return nil }
        return names.compactMap { name -> RuleSetting.Source? in
            switch name.value {
            case "network": return .network
            case "nowhere": return .nowhere
            case "files": return files()
            case "archive": return archive()
            case "pack":
                if !hasPacks {
                    faults.add(
                        name.range,
                        "the rule uses packs, but the file has no `[packs]`, and --packs is not given"
                    )
                }
                return pack(name)
            case "cache":
                let strategy = CacheStrategy(&reader, named: "strategy", requiredBy: "the source \"cache\"")
                let tags = reader.texts("tags", "a name in printable ASCII, such as \"shop\"") {
                    !$0.isEmpty && StructuredStrings.isString($0)
                }
                let key = key()
                checkCache(of: strategy, name.range)
                return strategy.map { .cache($0, key: key, tags: tags ?? []) }
            default: return nil
            }
        }
    }

    /// The key of the cache.
    private mutating func key() -> CacheKey {
        let ignored = reader.texts("ignore-query", "the name of an item of the query, such as \"utm_*\"") {
            !$0.isEmpty && !$0.dropLast().contains("*")
        }
        let isSorted = reader.boolean("sort-query")
        let methods = reader.texts("include-body", "POST, REPORT, SEARCH or PROPFIND") {
            ["POST", "REPORT", "SEARCH", "PROPFIND"].contains($0)
        }
        var key = CacheKey.url
        if let ignored { key = key.ignoring(ignored) }
        if isSorted == true { key = key.sortingQuery() }
        if let methods { key = key.includingBody(of: Set(methods)) }
        return key
    }

    private mutating func files() -> RuleSetting.Source? {
        reader.require("directory", "the source \"files\" needs the folder of the site, such as `directory = \"site\"`")
        reader.require(
            "at",
            "the source \"files\" needs the URL of the folder, such as `at = \"https://shop.example/\"`"
        )
        let directory = reader.path("directory", source)
        let base = reader.read("at", "a URL without a query, such as \"https://shop.example/app/\"") { value in
            value.text.flatMap { text in CanonicalURL.page(text).flatMap { $0.query == nil ? text : nil } }
        }
        guard let directory, let base else { return nil }
        return .files(directory, at: base.value)
    }

    private mutating func archive() -> RuleSetting.Source? {
        reader.require("archive", "the source \"archive\" needs a file, such as `archive = \"site.wacz\"`")
        let file = reader.path("archive", source, "the path of a WARC, WACZ or HAR, such as \"site.wacz\"")
        let time = reader.read("as-of", "a time, such as \"2026-03-01\" or \"2026-03-01T12:00:00Z\"") { value in
            value.text.flatMap(Timestamp.date)
        }
        return file.map { .archive($0, at: time?.value) }
    }

    private mutating func pack(_ name: TableReader.Located<String>) -> RuleSetting.Source? {
        guard let written = reader.value("overlay") else { return .pack(overlay: nil) }
        let table: TOMLTable
        if let given = written.table {
            table = given
        } else {
            guard TableReader.word(written, "overlay", of: CacheStrategy.names, faults) != nil else { return nil }
            // The name of a strategy alone is short for a table with it.
            table = TOMLTable(.inline, written.range)
            table.add(TOMLKey(name: "strategy", range: written.range), written)
        }
        var overlay = TableReader(table, "`overlay`", faults)
        let strategy = CacheStrategy(&overlay, named: "strategy", requiredBy: "`overlay`")
        overlay.refuseOthers()
        checkCache(of: strategy, written.range)
        return strategy.map { .pack(overlay: $0) }
    }

    private func checkCache(of strategy: CacheStrategy?, _ range: Range<Int>) {
        guard !hasCache, strategy?.kind != .networkOnly else { return }
        faults.add(
            range,
            "the rule uses the cache, but the file has no `[cache]` with a `directory`, and --cache is not given"
        )
    }
}

extension CacheStrategy {
    /// The names of the strategies, as Workbox and the RFCs have them.
    static let names = [
        "standard", "revalidate", "cache-first", "network-first", "stale-while-revalidate", "cache-only",
        "network-only",
    ]

    /// Reads a strategy and its bounds.
    ///
    /// It is nil if the strategy is missing or has a mistake, which the reader's list then holds.
    ///
    /// - Parameters:
    ///   - reader: The table of the rules file that holds the strategy and its bounds.
    ///   - key: The key of the strategy's name.
    ///   - owner: The thing in the file that needs the strategy, for messages.
    init?(_ reader: inout TableReader, named key: String, requiredBy owner: String) {
        reader.require(key, "\(owner) needs it, such as `\(key) = \"network-first\"`")
        let name = reader.word(key, of: Self.names)
        let limit = reader.duration("maximum-age")
        let timeout = reader.duration("timeout")
        let method = reader.word("validate-by", of: ["get", "head"])
        let checksDigests = reader.boolean("check-digests") ?? false
        guard let name else { return nil }
        if checksDigests { reader.refuse("check-digests", unless: Self.names.dropLast(), name) }
        reader.refuse("maximum-age", unless: ["cache-first", "stale-while-revalidate"], name)
        reader.refuse("timeout", unless: ["network-first"], name)
        reader.refuse("validate-by", unless: ["revalidate"], name)
        switch name {
        case "cache-first", "stale-while-revalidate":
            reader.require("maximum-age", "the strategy \"\(name)\" needs it, such as `maximum-age = \"7d\"`")
            guard let limit else { return nil }
            self = name == "cache-first" ? .cacheFirst(for: limit) : .staleWhileRevalidate(upTo: limit)
        case "revalidate": self = .revalidate(by: method == "head" ? .head : .get)
        case "network-first": self = .networkFirst(timeout: timeout)
        case "cache-only": self = .cacheOnly
        case "network-only": self = .networkOnly
        default: self = .standard
        }
        if checksDigests { self = checkingDigests() }
    }
}

extension TableReader {
    /// Adds a mistake if the table has a key that its strategy does not use.
    fileprivate func refuse(_ key: String, unless strategies: some Sequence<String>, _ strategy: String) {
        guard !strategies.contains(strategy), let entry = table.entry(key) else { return }
        let users = Words.list(strategies.map { "\"\($0)\"" }, "and")
        faults.add(entry.key.range, "`\(key)` has no effect with the strategy \"\(strategy)\": it belongs to \(users)")
    }
}
