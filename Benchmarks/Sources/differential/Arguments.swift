import Measuring

extension Argument {
    /// Every difference from plain URLSession that is right, and why.
    ///
    /// An argument names the facts that may differ, so that anything else that differs in the same scenario still
    /// fails; one that speaks of no difference any more is reported, and should go.
    static let all: [Argument] = []
}
