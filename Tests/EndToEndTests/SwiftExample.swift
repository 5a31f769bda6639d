import Foundation

/// A block fenced as `swift` in a document or in a comment.
struct SwiftExample {
    /// The file and the line of the fence, such as `README.md:12`.
    let place: String
    /// The lines between the fences, normalized.
    let code: String

    /// The examples of a Markdown document.
    static func examples(in markdown: String, file: URL) -> [SwiftExample] {
        var reader = Reader(file: file.lastPathComponent)
        for line in markdown.split(separator: "\n", omittingEmptySubsequences: false) { reader.take(line) }
        return reader.finish()
    }

    /// The examples of a source file's documentation comments.
    static func examples(inCommentsOf source: String, file: URL) -> [SwiftExample] {
        var reader = Reader(file: file.lastPathComponent)
        for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
            let text = line.drop { $0 == " " }
            reader.take(text.hasPrefix("///") ? text.dropFirst(3) : nil)
        }
        return reader.finish()
    }

    /// Removes imports, common indentation, and empty lines at the start and the end.
    static func normalized(_ lines: [Substring]) -> String {
        let code = lines.filter { !$0.drop { $0 == " " }.hasPrefix("import ") }
        let filled = code.filter { !$0.allSatisfy(\.isWhitespace) }
        let indentation = filled.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return code.map { $0.dropFirst(indentation) }.joined(separator: "\n")
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Collects examples line by line.
    private struct Reader {
        let file: String
        private var examples: [SwiftExample] = []
        private var number = 0
        private var open: (line: Int, lines: [Substring])?

        init(file: String) { self.file = file }

        /// Takes the next line, or nil for a line outside comments, which ends an open block.
        mutating func take(_ line: Substring?) {
            number += 1
            let text = line?.trimmingCharacters(in: .whitespaces)
            if open == nil {
                if text == "```swift" { open = (number, []) }
            } else if let line, text != "```" {
                open?.lines.append(line)
            } else {
                close()
            }
        }

        mutating func finish() -> [SwiftExample] {
            close()
            return examples
        }

        private mutating func close() {
            guard let open else { return }
            examples.append(SwiftExample(place: "\(file):\(open.line)", code: SwiftExample.normalized(open.lines)))
            self.open = nil
        }
    }
}
