/// A place in a text: where an editor puts its cursor, and what stands there.
package struct TextPlace: Hashable, Sendable {
    /// The line, counted from 1.
    package let line: Int
    /// The column in the line, in Unicode scalars, counted from 1.
    package let column: Int
    /// The line's text, in which each hidden character is replaced by one visible character; of a long line, the part
    /// around the place.
    package let excerpt: String
    /// The part of the excerpt that is meant, in Unicode scalars from its start: at least one.
    package let mark: Range<Int>
}
