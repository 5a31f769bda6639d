import WaystationHTTP

/// Something that happened to the packs of a library.
public struct PackEvent: Sendable, CustomStringConvertible {
    /// The kind of an event; later releases may add more.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name: short and stable.
        public let description: String

        /// A version was installed.
        public static let installed = Kind(description: "installed")
        /// A version became the active one.
        public static let activated = Kind(description: "activated")
        /// The previous version became active again, or no version is active any more.
        public static let rolledBack = Kind(description: "rolledBack")
        /// The app or the server switched a module on; the detail says which one, and whether the other switch is off.
        public static let enabled = Kind(description: "enabled")
        /// The app or the server switched a module off; the detail says which one.
        public static let disabled = Kind(description: "disabled")
        /// A version was removed.
        public static let removed = Kind(description: "removed")
        /// Something on disk differs from what was stored there.
        ///
        /// Either a file of a pack: it is not served, and will be fetched again. Or one of the library's own records:
        /// the detail says what was lost.
        public static let damaged = Kind(description: "damaged")
        /// Something on disk could not be read; its content does not answer requests until it can be read again.
        public static let unreadable = Kind(description: "unreadable")
        /// A check for updates, or the update of a module, failed; the active versions stay active.
        public static let updateFailed = Kind(description: "updateFailed")
        /// An entry of a server's whitelist is not valid: it allows nothing, and the other entries are in force.
        public static let rejected = Kind(description: "rejected")
        /// The app confirmed that a version works.
        public static let confirmed = Kind(description: "confirmed")
    }

    /// The kind of the event.
    public let kind: Kind
    /// The module; nil when the event concerns all modules.
    public let module: ModuleID?
    /// The version that the event concerns, if any.
    public let version: PackVersion?
    /// A description in words, with the reason.
    public let detail: String

    init(kind: Kind, module: ModuleID?, version: PackVersion?, detail: String) {
        self.kind = kind
        self.module = module
        self.version = version
        self.detail = detail.shown(upTo: 2_000)
    }

    /// Whether the event reports a problem that needs attention.
    public var isTrouble: Bool { [.damaged, .unreadable, .rolledBack, .updateFailed, .rejected].contains(kind) }

    /// One line for a log.
    public var description: String {
        "\(kind)" + (module.map { " \($0)" } ?? "") + (version.map { " \($0)" } ?? "")
            + (detail.isEmpty ? "" : ": \(detail)")
    }
}
