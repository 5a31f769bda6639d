import ArgumentParser
import WaystationFields
import WaystationStorage

struct CacheVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Checks every response and every body.",
        discussion: """
            Reads the whole store. Exit code 1 means that something is damaged. With --repair, damaged responses are \
            removed, so that the app loads them again, and the exit code is 0.

            Example:
              waystation cache verify --in caches/http --repair
            """
    )

    @OptionGroup
    var store: StoreOptions

    @Flag(help: "Remove damaged responses.")
    var repair = false

    @OptionGroup
    var options: OutputOptions

    func run() async throws {
        let found = try store.inspector().verify()
        var dropped: Int?
        if repair, !found.isIntact {
            let open = try store.store()
            dropped = try await open.repair(found)
            await open.flush()
        }
        try options.write(CacheCheck(found, dropped: dropped))
        if !found.isIntact, !repair { throw ExitCode.refused }
    }
}

struct CacheCheck: CommandResult {
    struct Damage: Encodable {
        let id: Int64
        let method: String?
        let url: String?
        let partition: String?
        let problem: String
    }

    let entries: Int
    let bodyFiles: Int
    let unnamedFiles: Int
    let damaged: [Damage]
    let indexProblems: [String]
    let dropped: Int?

    init(_ found: StoreVerification, dropped: Int?) {
        entries = found.entries
        bodyFiles = found.bodyFiles
        unnamedFiles = found.unnamedFiles
        damaged = found.damaged.map {
            Damage(
                id: $0.id,
                method: $0.key?.method,
                url: $0.key?.url,
                partition: $0.key?.partition,
                problem: $0.problem
            )
        }
        indexProblems = found.indexProblems
        self.dropped = dropped
    }

    var text: String {
        var lines = indexProblems.map { "index: \($0)" }
        lines += damaged.map {
            "\($0.method ?? "?") \($0.url.map(SecretNames.standard.url) ?? "row \($0.id)"): \($0.problem)".printable
        }
        lines.append(
            "\(Words.responses(entries)) and \(bodyFiles) body files checked, \(damaged.count) damaged"
                + (dropped.map { ", \($0) dropped" } ?? "")
        )
        return lines.joined(separator: "\n")
    }
}
