import Foundation
import Logging
import Waystation
import WaystationRulesFile

/// The result of reading a rules file.
struct RulesCheck: CommandResult {
    struct Problem: Encodable {
        let line: Int
        let column: Int
        let message: String
    }

    let file: String
    let rules: Int
    let problems: [Problem]
    let warnings: [String]
    private let problemTexts: [String]

    private enum CodingKeys: CodingKey { case file, rules, problems, warnings }

    /// The result for a file with mistakes.
    init(_ document: RulesDocument, _ found: [RulesFileProblem]) {
        file = document.name
        rules = 0
        problems = found.map { Problem(line: $0.place.line, column: $0.place.column, message: $0.message) }
        problemTexts = found.map { $0.text(in: document.name) }
        warnings = []
    }

    /// The result for a file without mistakes.
    init(_ plan: GatewayPlan, warnings: [String]) {
        file = plan.document.name
        rules = plan.file.rules.count
        problems = []
        problemTexts = []
        self.warnings = warnings
    }

    var text: String {
        let mistakes = Self.count(problems.count, "mistake")
        let summary = problems.isEmpty ? "\(Self.count(rules, "rule")), no mistakes" : mistakes
        return (problemTexts + warnings.map { "warning: \($0)" } + ["\(file): \(summary)"]).joined(separator: "\n")
    }

    /// The mistakes as the message of an error.
    var message: String {
        "\(file) has \(Self.count(problems.count, "mistake"))\n" + problemTexts.joined(separator: "\n")
    }

    private static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}

extension GatewayPlan {
    /// Makes everything that a start would make, but in a temporary directory, and finds the warnings.
    func check() async throws -> RulesCheck {
        let folder = FileManager.default.temporaryDirectory.appending(path: "waystation-check-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var plan = self
        plan.cacheDirectory = cacheDirectory.map { _ in folder.appending(path: "cache") }
        plan.packsDirectory = packsDirectory.map { _ in folder.appending(path: "packs") }
        plan.authorityDirectory = authorityDirectory.map { _ in folder.appending(path: "authority") }
        let authorityWarnings = try plan.authorityWarnings()
        var opened = try plan.interceptor(Logger(label: "waystation") { _ in SwiftLogNoOpLogHandler() })
        // The cache opens in the background; its directory is removed afterwards.
        await opened.cache?.flush()
        // To open a library writes into its directory, so only its list of modules is read.
        opened.emptyPacks = packsDirectory.flatMap { directory in
            let modules = directory.appending(path: "modules").path(percentEncoded: false)
            let names = (try? FileManager.default.contentsOfDirectory(atPath: modules)) ?? []
            return names.isEmpty ? directory : nil
        }
        let warnings = opened.interceptor.warnings.map { "\($0)" } + opened.warnings + authorityWarnings
        return RulesCheck(self, warnings: warnings)
    }
}
