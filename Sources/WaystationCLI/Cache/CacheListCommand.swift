import ArgumentParser
import Foundation
import WaystationStorage

struct CacheListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the stored responses.",
        discussion: """
            Each response is a line: method, status, age, size and URL, with its partition, the bytes of a part, the \
            request fields that selected the variant, its tags as #prices, and its groups as @"prices". A key that is \
            not a URL has a mark: https://shop.example/#key=de.

            Example:
              waystation cache list --in caches/http --host shop.example
            """
    )

    @OptionGroup
    var store: StoreOptions

    @OptionGroup
    var filter: ScopeOptions

    @Flag(help: "Also show cookies and credentials that selected a variant.")
    var secrets = false

    @OptionGroup
    var options: OutputOptions

    func run() async throws {
        let inspector = try store.inspector()
        let display = FieldDisplay(showsSecrets: secrets)
        let now = Date()
        let entries = try inspector.entries(in: filter.scope)
        let isFiltered = try !filter.isEverything && inspector.totals().entries > 0
        let found = entries.map { CachedResponse($0, display, now: now) }
        try options.write(CacheListing(entries: found, isFiltered: isFiltered))
    }
}

/// One response of a store, in the form that the tool prints.
struct CachedResponse: Encodable {
    let id: Int64
    let method: String
    let url: String
    let partition: String
    let status: Int
    let requestTime: Date
    let responseTime: Date
    let age: Int
    let size: Int
    let bodyLength: Int
    let bodyFile: String?
    let variant: [String]
    /// The bytes of a part, such as `bytes 0-999 of 5000`.
    let part: String?
    /// A URL that the response answers, if its key is not just a URL.
    let answers: String?
    let tags: [String]
    let groups: [String]

    init(_ entry: StoredEntry, _ display: FieldDisplay, now: Date) {
        id = entry.id
        method = entry.key.method
        url = entry.key.url
        partition = entry.key.partition
        status = entry.status
        requestTime = entry.requestTime
        responseTime = entry.responseTime
        age = Int(exactly: now.timeIntervalSince(entry.responseTime).rounded()) ?? 0
        size = entry.size
        bodyLength = entry.bodyLength
        bodyFile = entry.bodyFile
        part = entry.part?.description
        answers = entry.key.differenceInWords.map { "\(entry.key.answeredURL), \($0)" }
        variant = display.variant(entry.selectingFields)
        (tags, groups) = (entry.tags, entry.groups)
    }

    var row: [String] {
        var words = [url]
        if !partition.isEmpty { words.append("[\(partition)]") }
        if let part { words.append("(\(part))") }
        if !variant.isEmpty { words.append("{\(variant.joined(separator: "; "))}") }
        words += tags.map { "#\($0)" } + groups.map { "@\"\($0)\"" }
        return [method, "\(status)", Words.age(age), Words.bytes(size), words.joined(separator: " ")].map(\.printable)
    }
}

struct CacheListing: CommandResult {
    let entries: [CachedResponse]
    /// Whether other responses are stored, which the filter left out.
    private let isFiltered: Bool

    private enum CodingKeys: CodingKey {
        case entries
    }

    init(entries: [CachedResponse], isFiltered: Bool) {
        self.entries = entries
        self.isFiltered = isFiltered
    }

    var text: String {
        guard entries.isEmpty else { return Words.table(entries.map(\.row)) }
        return isFiltered ? "no stored response fits" : "no responses are stored"
    }
}

extension Words {
    /// An age in words, such as `12 s`, `5 min`, `3 h`, `21 d`.
    static func age(_ seconds: Int) -> String {
        switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3_600: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3_600) h"
        default: "\(seconds / 86_400) d"
        }
    }

    /// A number of responses in words, such as `1 response`, `3 responses`.
    static func responses(_ count: Int) -> String { count == 1 ? "1 response" : "\(count) responses" }
}
