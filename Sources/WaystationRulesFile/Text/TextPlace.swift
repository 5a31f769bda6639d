/// A place in a text: where an editor puts its cursor, and what stands there.
package struct TextPlace: Hashable, Sendable {
    /// The line, counted from 1.
    package let line: Int
    /// The column in the line, in Unicode scalars, counted from 1.
    package let column: Int
    /// The number of scalars that are meant, at least 1.
    package let length: Int
    /// The line's text, in which each control character is replaced by one visible character.
    package let excerpt: String
}
