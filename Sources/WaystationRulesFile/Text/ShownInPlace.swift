import WaystationFields

extension Sequence<Unicode.Scalar> {
    /// The text in which each hidden character is replaced by one other, so that a mark below it keeps its place.
    var shownInPlace: String {
        reduce(into: "") { text, scalar in
            text.unicodeScalars.append(scalar == "\t" ? " " : scalar.isHidden ? "\u{FFFD}" : scalar)
        }
    }
}
