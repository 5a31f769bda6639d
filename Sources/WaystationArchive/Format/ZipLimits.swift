/// How much an archive may hold, and what it may get away with, before it is refused.
///
/// The defaults fit packages of web files from a server that is not trusted.
public struct ZipLimits: Sendable, Hashable {
    /// How many entries there may be, with the directories that are only implied by names.
    ///
    /// 100,000 by default.
    public var maximumEntries = 100_000
    /// How many bytes one entry may have when extracted.
    ///
    /// 1 GiB by default.
    public var maximumEntrySize = 1 << 30
    /// How many bytes all entries together may have when extracted.
    ///
    /// 4 GiB by default.
    public var maximumTotalSize = 4 << 30
    /// How many times larger than compressed one entry, or all of them, may be when extracted.
    ///
    /// 200 by default.
    ///
    /// The method itself ends at 1,032.
    public var maximumRatio = 200
    /// The size up to which ``maximumRatio`` is not looked at.
    ///
    /// 1 MiB by default.
    public var ratioFloor = 1 << 20
    /// How many bytes of UTF-8 a name may have.
    ///
    /// 1,024 by default; each segment may have 255, as on Linux's file systems.
    public var maximumNameLength = 1_024
    /// How many segments a name may have.
    ///
    /// 32 by default.
    public var maximumDepth = 32
    /// Which bytes that belong to nothing are passed over.
    ///
    /// None by default.
    public var toleratedJunk: Junk = []
    /// How names are read that do not say that they are UTF-8.
    ///
    /// As code page 437 by default.
    public var unmarkedNames: NameEncoding = .codePage437

    /// The defaults.
    public init() {}

    /// Places where bytes may lie that belong to nothing.
    ///
    /// Junk is where a second archive hides from one reader and not from another.
    public struct Junk: OptionSet, Sendable, Hashable {
        /// The bits of the set.
        public let rawValue: Int
        /// A set with these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Ahead of the first entry, as in an archive that extracts itself; offsets may count from the first entry or
        /// from the start of the file.
        public static let leading = Junk(rawValue: 1)
        /// Between entries, and between the last one and the directory, as some tools leave it where they removed one.
        public static let between = Junk(rawValue: 2)
        /// Behind the end record, as where a tape format pads to whole blocks; at most 65,535 bytes.
        public static let trailing = Junk(rawValue: 4)
    }

    /// How a name's bytes become text.
    public struct NameEncoding: Sendable, Hashable {
        enum Value { case codePage437, utf8 }
        let value: Value

        /// The original PC's, as the format's specification (APPNOTE D.1) has it.
        public static let codePage437 = NameEncoding(value: .codePage437)
        /// UTF-8 without the mark, as Info-ZIP's `zip` writes it on Linux; other bytes are refused.
        public static let utf8 = NameEncoding(value: .utf8)
    }
}
