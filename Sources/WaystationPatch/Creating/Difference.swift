/// A part of the new bytes, told by the old ones.
///
/// First bytes that are nearly those of the old from `oldStart` on, then bytes that are like none.
struct Difference: Equatable {
    /// Where in the new bytes the part begins.
    var newStart: Int
    /// Where in the old bytes the nearly equal ones begin.
    var oldStart: Int
    /// How many bytes are nearly equal.
    var similar: Int
    /// How many bytes follow that are like none.
    var unlike: Int
}
