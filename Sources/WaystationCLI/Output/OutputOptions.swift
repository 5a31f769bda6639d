import ArgumentParser
import Foundation

/// The form of results and errors.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    case text, json

    /// The form that the arguments ask for, even if other arguments are wrong.
    init(arguments: [String]) {
        let isJSON =
            arguments.contains("--format=json") || arguments.contains("--json")
            || zip(arguments, arguments.dropFirst()).contains { $0 == "--format" && $1 == "json" }
        self = isJSON ? .json : .text
    }
}

/// The options of all commands.
struct OutputOptions: ParsableArguments {
    @Option(help: "The form of results and errors: lines for people, or one JSON object.")
    var format = OutputFormat.text

    /// Writes a result to standard output.
    func write(_ result: some CommandResult) throws { try Console.write(text(of: result)) }

    /// Writes a result to standard output, or to standard error if the command's output went to standard output.
    func write(_ result: some CommandResult, about output: OutputDestination) throws {
        let text = try text(of: result)
        if output.isStandardOutput { Console.writeError(text) } else { try Console.write(text) }
    }

    private func text(of result: some CommandResult) throws -> String {
        switch format {
        case .text: result.text
        case .json: try JSON.text(of: result)
        }
    }
}

/// The result of a command: an object with stable names for programs, and lines of text for people.
protocol CommandResult: Encodable {
    var text: String { get }
}

/// JSON in the form that all commands write: one line, names sorted, dates in the form of RFC 3339.
enum JSON {
    static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

/// Writes lines to standard output and standard error.
enum Console {
    static func write(_ line: String) throws { try StandardOutput.write(Data((line + "\n").utf8)) }

    static func writeError(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }
}
