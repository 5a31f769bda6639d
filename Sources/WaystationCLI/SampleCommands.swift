import ArgumentParser

/// Puts each sample command in the help texts on one line, so that it can be copied.
///
/// The argument parser wraps them like prose at the width of the terminal, and a shell would treat the rest of a
/// wrapped command as another one.
enum SampleCommands {
    private static let mark = "  waystation "

    /// A help text with each sample command on one line.
    static func unwrapped(in help: String) -> String {
        var lines = help.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let samples = Set(all(of: WaystationCommand.self))
        var index = 0
        while index < lines.count {
            defer { index += 1 }
            guard lines[index].hasPrefix(mark) else { continue }
            var joined = lines[index]
            for next in index..<lines.count {
                if next > index { joined += " " + lines[next].drop { $0 == " " } }
                guard samples.contains(joined) else { continue }
                lines.replaceSubrange(index...next, with: [joined])
                break
            }
        }
        return lines.joined(separator: "\n")
    }

    /// The sample commands of a command and its subcommands, in the form of their source.
    private static func all(of command: any ParsableCommand.Type) -> [String] {
        command.configuration.discussion.split(separator: "\n").map(String.init).filter { $0.hasPrefix(mark) }
            + command.configuration.subcommands.flatMap(all)
    }
}
