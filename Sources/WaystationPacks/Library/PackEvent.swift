/// Something that happened to the packs of a library.
public struct PackEvent: Sendable, CustomStringConvertible {
    /// What happened; more may be added.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name: short and stable.
        public let description: String

        /// A version was installed.
        public static let installed = Kind(description: "installed")
        /// A version answers from now on.
        public static let activated = Kind(description: "activated")
        /// The version before answers again, or none does.
        public static let rolledBack = Kind(description: "rolledBack")
        /// The app or the server switched a module on; the detail names which, and says when the other switch is off.
        public static let enabled = Kind(description: "enabled")
        /// The app or the server switched a module off; the detail names which.
        public static let disabled = Kind(description: "disabled")
        /// A version was removed.
        public static let removed = Kind(description: "removed")
        /// Something on disk is not what was put there: a file, which is not served and will be fetched anew, or a note of
        /// the library's own, of which the detail says what was lost.
        public static let damaged = Kind(description: "damaged")
        /// Something on disk could not be read; what it holds does not answer until it can be.
        public static let unreadable = Kind(description: "unreadable")
        /// A check for updates, or the update of a module, did not work; what was in use is in use.
        public static let updateFailed = Kind(description: "updateFailed")
        /// An entry of a server's whitelist was not understood: it allows nothing, and the others are in force.
        public static let rejected = Kind(description: "rejected")
        /// The app confirmed that a version works.
        public static let confirmed = Kind(description: "confirmed")
    }

    /// What happened.
    public let kind: Kind
    /// The module; nil when it is about all of them.
    public let module: ModuleID?
    /// The version it is about, when it is about one.
    public let version: PackVersion?
    /// In words, with the reason.
    public let detail: String

    /// Whether something went wrong that someone should look at.
    public var isTrouble: Bool { [.damaged, .unreadable, .rolledBack, .updateFailed, .rejected].contains(kind) }

    /// One line for a log.
    public var description: String {
        "\(kind)" + (module.map { " \($0)" } ?? "") + (version.map { " \($0)" } ?? "")
            + (detail.isEmpty ? "" : ": \(detail)")
    }
}
