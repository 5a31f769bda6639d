import Waystation
import WaystationHTTP
import WaystationStorage

extension RulesFile {
    /// Reads a file.
    ///
    /// - Parameters:
    ///   - text: The file's text.
    ///   - surroundings: The parts, such as a cache, that the caller provides, so that rules may use them without a table
    ///     in the file.
    /// - Throws: All mistakes of the file, in the order of their places.
    init(_ text: String, beside surroundings: Surroundings = []) throws(Problems) {
        self.init()
        let source = SourceText(text)
        let (document, mistakes) = TOMLParser.parse(source)
        let faults = FaultList(mistakes)
        var reader = TableReader(document, "the file", faults)
        if let table = reader.table("gateway") { gateway = GatewaySettings(table, faults) }
        if let table = reader.table("authority") {
            authority = table.directory("[authority]", faults, source)
            if !surroundings.contains(.proxy), !document.mayBeProxy {
                faults.add(
                    table.range,
                    "`[authority]` has no effect without a proxy: write `proxy = true` under `[gateway]`, or give --proxy"
                )
            }
        }
        if let table = reader.table("cache") { cache = CacheSettings(table, faults, source) }
        if let table = reader.table("packs") { packs = table.directory("[packs]", faults, source) }
        if let table = reader.table("header-body") { headerBody = HeaderBody(table, faults) }
        let hasCache = surroundings.contains(.cache) || document.mayHave("directory", in: "cache")
        let hasPacks = surroundings.contains(.packs) || document.mayHave("directory", in: "packs")
        for table in reader.tables("rule") {
            var rule = RuleReader(table, faults, source, hasCache: hasCache, hasPacks: hasPacks)
            if let rule = rule.read() { rules.append(rule) }
        }
        if document.entry("rule") == nil, !document.isIncomplete {
            faults.add(
                0..<0,
                "the file has no rules, so a gateway would refuse every request: add one under `[[rule]]`"
            )
        }
        reader.refuseOthers()
        guard faults.faults.isEmpty else {
            let sorted = faults.faults.sorted { $0.range.lowerBound < $1.range.lowerBound }
            throw Problems(problems: sorted.map { RulesFileProblem(source.place(of: $0.range), $0.message) })
        }
    }
}

extension TOMLTable {
    /// Whether the document has a key in a table, with any value, or a line that could not be read may be that key.
    fileprivate func mayHave(_ key: String, in name: String) -> Bool {
        guard let table = entry(name)?.value.table else { return isIncomplete }
        return table.entry(key) != nil || table.isIncomplete
    }

    /// Whether the document makes the gateway a proxy, or has a line that may be meant to.
    fileprivate var mayBeProxy: Bool {
        guard let table = entry("gateway")?.value.table else { return entry("gateway") != nil || isIncomplete }
        if let written = table.entry("proxy")?.value { return written.boolean != false }
        return table.isIncomplete
            || table.entries.contains { Spelling.suggestion(for: $0.key.name, among: ["proxy"]) != nil }
    }

    /// The directory of a table that has no other key; nil if it has a mistake, which the list then holds.
    fileprivate func directory(_ name: String, _ faults: FaultList, _ source: SourceText) -> PathSetting? {
        var reader = TableReader(self, name, faults)
        let directory = reader.path("directory", source)
        reader.require("directory", "write `directory = \"\(name.dropFirst().dropLast())\"`")
        reader.refuseOthers()
        return directory
    }
}

extension TableReader {
    fileprivate mutating func table(_ key: String) -> TOMLTable? {
        guard let written = value(key) else { return nil }
        if let table = written.table { return table }
        let isList = written.elements?.isEmpty == false
        faults.add(
            written.range,
            isList
                ? "`\(key)` is a list of tables; write `[\(key)]` in single brackets, once"
                : "`\(key)` is \(written.shown); expected a table under `[\(key)]`"
        )
        return nil
    }

    fileprivate mutating func tables(_ key: String) -> [TOMLTable] {
        guard let written = value(key) else { return [] }
        if let elements = written.elements {
            let tables = elements.compactMap(\.table)
            if tables.count == elements.count { return tables }
        }
        faults.add(written.range, "`\(key)` is \(written.shown); write each rule under `[[\(key)]]`, in two brackets")
        return []
    }
}

extension GatewaySettings {
    fileprivate init(_ table: TOMLTable, _ faults: FaultList) {
        var reader = TableReader(table, "[gateway]", faults)
        port = reader.number("port", in: 0...65_535, "a number from 1 to 65535, or 0 for any free port")
        start =
            reader.texts("start", "the URL of a page, such as \"https://shop.example/\"") {
                CanonicalURL.page($0) != nil
            } ?? []
        isProxy = reader.boolean("proxy")
        hasInspector = reader.boolean("inspector")
        rewritesLinks = reader.boolean("rewrites-links")
        forwardsUnclaimed = reader.boolean("forwards-unclaimed")
        passesForwardedFields = reader.boolean("passes-forwarded-fields")
        maximumBody = reader.size("maximum-body")
        maximumConnections = reader.number("maximum-connections", in: 1...100_000, "a number from 1 to 100000")
        requestTimeout = reader.timeout("request-timeout")
        idleTimeout = reader.timeout("idle-timeout")
        tunnelTimeout = reader.timeout("tunnel-timeout")
        deliveryTimeout = reader.timeout("delivery-timeout")
        reader.refuseOthers()
    }
}

extension CacheSettings {
    fileprivate init(_ table: TOMLTable, _ faults: FaultList, _ source: SourceText) {
        var reader = TableReader(table, "[cache]", faults)
        directory = reader.path("directory", source)
        maximumSize = reader.size("maximum-size")
        maximumAge = reader.duration("maximum-age")
        maximumEntrySize = reader.size("maximum-entry-size")
        memorySize = reader.size("memory-size")
        storesCodedBodies = reader.boolean("stores-coded-bodies")
        reader.refuseOthers()
    }
}

extension HeaderBody {
    fileprivate init(_ table: TOMLTable, _ faults: FaultList) {
        self.init()
        var reader = TableReader(table, "[header-body]", faults)
        let name = reader.read("name", "the name of a header field, such as \"x-body\"") { value in
            value.text.flatMap { $0.wholeMatch(of: #/[!#$%&'*+.^_`|~0-9A-Za-z-]+/#) == nil ? nil : $0 }
        }
        if let name { self.name = name.value }
        if reader.word("encoding", of: ["percent", "base64"]) == "base64" { encoding = .base64 }
        if let limit = reader.size("limit") { self.limit = limit }
        reader.refuseOthers()
    }
}
