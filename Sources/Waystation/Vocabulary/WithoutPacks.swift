#if !Packs
public import Foundation

// Stand-ins for packs in a build without the trait `Packs`. No value of these types can be made, so the code that
// only passes them on is the same in both builds. An app that uses packs does not compile, and the message names the
// trait.

/// The library of installed packs, which needs the package trait `Packs`.
public struct PackLibrary: Sendable {
    /// Not available: packs need the package trait `Packs`.
    @available(*, unavailable, message: "packs need the package trait Packs: add .defaults to the dependency's traits")
    public init(directory: URL, events: @escaping @Sendable (PackEvent) -> Void = { _ in }) throws {
        throw WaystationError(.missingPacks, "packs need the package trait Packs")
    }

    /// No problems.
    var condition: [PackEvent] { [] }
}

/// An event of packs, which need the package trait `Packs`.
public struct PackEvent: Sendable, CustomStringConvertible {
    private init() {}

    /// An empty line.
    public var description: String { "" }

    var isTrouble: Bool { false }
}
#endif
