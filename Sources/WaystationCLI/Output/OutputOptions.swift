import ArgumentParser
import Foundation

/// In which form results and errors are written.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    case text, json

    /// The form that arguments ask for, also when they are wrong otherwise.
    init(arguments: [String]) {
        let isJSON =
            arguments.contains("--format=json")
            || zip(arguments, arguments.dropFirst()).contains { $0 == "--format" && $1 == "json" }
        self = isJSON ? .json : .text
    }
}

/// What every command takes.
struct OutputOptions: ParsableArguments {
    @Option(help: "How to write results and errors: lines for people, or one JSON object.")
    var format = OutputFormat.text

    /// Writes a result to standard output.
    func write(_ result: some CommandResult) throws { Console.write(try text(of: result)) }

    /// Writes a result to standard output, or to standard error where standard output has taken what was made.
    func write(_ result: some CommandResult, about output: OutputDestination) throws {
        let text = try text(of: result)
        output.isStandardOutput ? Console.writeError(text) : Console.write(text)
    }

    private func text(of result: some CommandResult) throws -> String {
        switch format {
        case .text: result.text
        case .json: try JSON.text(of: result)
        }
    }
}

/// What a command found or did: for programs as an object with stable names, for people as lines.
protocol CommandResult: Encodable {
    var text: String { get }
}

/// JSON as all commands write it: one line, names in order, dates in the form of RFC 3339.
enum JSON {
    static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

/// Standard output and standard error, line by line.
enum Console {
    static func write(_ line: String) {
        // A reader that closed the pipe has seen enough.
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }

    static func writeError(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }
}
