/// A part of the new bytes, described by old bytes.
///
/// The part starts with bytes that are similar to the old ones from `oldStart` on, and ends with bytes that are not.
struct Difference: Equatable {
    /// The start of the part in the new bytes.
    var newStart: Int
    /// The start of the similar bytes in the old bytes.
    var oldStart: Int
    /// The number of similar bytes.
    var similar: Int
    /// The number of bytes after them that are not similar to any old bytes.
    var unlike: Int
}
