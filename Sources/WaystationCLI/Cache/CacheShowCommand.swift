import ArgumentParser
import Foundation
import HTTPTypes
import WaystationStorage

struct CacheShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows the fields or the body of the stored responses for a URL.",
        discussion: """
            The values of fields such as Set-Cookie and Authorization are hidden. --body writes the body of the newest \
            matching response to standard output, byte for byte.

            Example:
              waystation cache show https://shop.example/app/ --in caches/http
            """
    )

    @Argument(help: "The canonical URL, as `list` shows it.")
    var url: String

    @OptionGroup
    var store: StoreOptions

    @Option(help: ArgumentHelp("Only the response to this method.", valueName: "name"))
    var method: String?

    @Option(help: ArgumentHelp("Only the response of this partition.", valueName: "name"))
    var partition: String?

    @Option(
        help: ArgumentHelp("Only the response with this number, as `list --format json` shows it.", valueName: "id")
    )
    var id: Int64?

    @Flag(help: "Write only the body.")
    var body = false

    @Flag(help: "Also show cookies and credentials.")
    var secrets = false

    @OptionGroup
    var options: OutputOptions

    func validate() throws {
        if body, options.format == .json {
            throw ValidationError("--body writes the bytes themselves and cannot be combined with --format json.")
        }
    }

    func run() async throws {
        let inspector = try store.inspector()
        let entries = try inspector.entries(in: .url(url, partition: partition)).filter { entry in
            (method == nil || entry.key.method == method) && (id == nil || entry.id == id)
        }
        guard !entries.isEmpty else {
            throw CacheFailure(code: "notStored", message: "\(url.printable) is not stored: see `list`")
        }
        if body {
            guard let newest = entries.max(by: { $0.responseTime < $1.responseTime }),
                let response = try inspector.response(newest)
            else { throw CacheFailure(code: "notStored", message: "\(url.printable) was removed while it was read") }
            return try Self.write(response.body)
        }
        let display = FieldDisplay(showsSecrets: secrets)
        let now = Date()
        let found = try entries.compactMap { entry in
            try inspector.response(entry).map { response in
                ShownResponse(
                    response: CachedResponse(entry, display, now: now),
                    fields: display.pairs(response.head.headerFields)
                )
            }
        }
        try options.write(ShownResponses(responses: found))
    }

    private static func write(_ body: StoredBody) throws {
        let step = 1 << 20
        switch body {
        case .data(let data): try StandardOutput.write(data)
        case .file(let file):
            for offset in stride(from: 0, to: file.length, by: step) {
                guard try StandardOutput.write(file.read(at: offset, count: step)) else { return }
            }
        }
    }
}

struct ShownResponse: Encodable {
    let response: CachedResponse
    let fields: [[String]]

    var text: String {
        var lines = [response.row.joined(separator: "  ")]
        if let answers = response.answers { lines.append("  answers: \(answers)".printable) }
        lines.append("  body: \(Words.bytes(response.bodyLength)), \(response.bodyFile ?? "in the index")")
        lines += fields.map { "  \($0.joined(separator: ": "))".printable }
        return lines.joined(separator: "\n")
    }
}

struct ShownResponses: CommandResult {
    let responses: [ShownResponse]

    var text: String { responses.map(\.text).joined(separator: "\n\n") }
}
