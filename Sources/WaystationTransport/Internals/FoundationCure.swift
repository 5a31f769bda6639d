/// A cure of one of Foundation's traps that reads or changes what Foundation does not make public.
///
/// A cure finds out once, when it is first used, whether this Foundation has the trap, and whether the properties that it
/// needs have the names and the types that its tests know. If one of them has not, or if the trap is gone, the cure
/// stays out: it reads and changes nothing. `Docs/FoundationTraps.md` lists the cures, and how each of them ends.
package struct FoundationCure: Sendable {
    package enum State: Hashable, Sendable {
        /// The trap is there, and cured.
        case applied
        /// This Foundation does not have the trap.
        case notNeeded
        /// The trap may be there and is not cured, because a property has another name or another type than is known.
        case unknownLayout(missing: String)
    }

    /// The number of the trap in the document.
    package let trap: String
    /// The effect of the cure, as a sentence.
    package let effect: String
    /// What happens where the trap is not cured, as a sentence.
    package let loss: String
    package let state: State

    /// Judges a cure.
    ///
    /// - Parameters:
    ///   - trap: The number of the trap in the document.
    ///   - effect: The effect of the cure.
    ///   - loss: What happens without the cure.
    ///   - isNeeded: Whether this Foundation has the trap.
    ///   - missing: The description of a property that was not found; nil if all were found.
    package init(_ trap: String, _ effect: String, without loss: String, isNeeded: Bool = true, missing: String?) {
        (self.trap, self.effect, self.loss) = (trap, effect, loss)
        state = if !isNeeded { .notNeeded } else if let missing { .unknownLayout(missing: missing) } else { .applied }
    }

    /// Judges a cure by the properties that it needs.
    package init(
        _ trap: String,
        _ effect: String,
        without loss: String,
        isNeeded: Bool = true,
        _ properties: StoredProperty...
    ) {
        let missing = properties.first { $0.offset == nil }?.description
        self.init(trap, effect, without: loss, isNeeded: isNeeded, missing: missing)
    }

    /// Whether the cure may touch its properties.
    package var isApplied: Bool { if case .applied = state { true } else { false } }
}

/// The version of the Swift toolchain whose libraries run the program.
///
/// The standard library says the minor version, and not the patch, so a trap that a patch corrects is recognised by its
/// behaviour alone.
package struct ToolchainVersion: Comparable, Sendable {
    private let major: Int
    private let minor: Int

    package init(_ major: Int, _ minor: Int) { (self.major, self.minor) = (major, minor) }

    /// The version of the standard library that is loaded, and so that of its Foundation: a toolchain has both.
    ///
    /// A version that cannot be read counts as older than any other, so that no cure is left out.
    package static let current: ToolchainVersion = {
        let numbers = "\(_SwiftStdlibVersion.current)".split(separator: ".").map { Int($0) ?? 0 }
        return numbers.count < 2 ? ToolchainVersion(0, 0) : ToolchainVersion(numbers[0], numbers[1])
    }()

    package static func < (one: Self, other: Self) -> Bool { (one.major, one.minor) < (other.major, other.minor) }
}
