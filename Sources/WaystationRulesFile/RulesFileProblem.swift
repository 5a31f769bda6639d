/// A mistake in a rules file.
package struct RulesFileProblem: Hashable, Sendable {
    package let place: TextPlace
    /// A message with the wrong value and the expected form.
    package let message: String

    package init(_ place: TextPlace, _ message: String) {
        self.place = place
        self.message = message
    }

    /// The problem as compilers write it: the file, line and column with the message, and below it the line with a mark.
    package func text(in file: String) -> String {
        let number = "\(place.line)"
        let margin = String(repeating: " ", count: number.count)
        let indent = String(repeating: " ", count: place.mark.lowerBound)
        let mark = String(repeating: "^", count: place.mark.count)
        return """
            \(file):\(place.line):\(place.column): \(message)
              \(number) | \(place.excerpt)
              \(margin) | \(indent)\(mark)
            """
    }
}
