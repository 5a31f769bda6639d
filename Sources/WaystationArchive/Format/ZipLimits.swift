/// The limits of an archive's size and names, and the irregularities that are tolerated, before it is refused.
///
/// The defaults suit packages of web files from an untrusted server.
public struct ZipLimits: Sendable, Hashable {
    /// How many entries there may be, including directories that are only implied by names.
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
    /// How many times larger than its compressed form one entry, or all of them together, may be when extracted.
    ///
    /// 200 by default.
    ///
    /// The compression method itself cannot exceed 1,032.
    public var maximumRatio = 200
    /// The size up to which ``maximumRatio`` is not checked, in bytes.
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
    /// The places where bytes that belong to no entry are tolerated even if a reader could find parts of another archive
    /// in them.
    ///
    /// None by default. Without such parts, up to 65,535 bytes after the end record and any number of bytes elsewhere
    /// are always tolerated.
    public var toleratedJunk: Junk = []
    /// The encoding of names that are not marked as UTF-8.
    ///
    /// By default it depends on the system where the entry was made; see ``NameEncoding/host``.
    public var unmarkedNames: NameEncoding = .host

    /// Makes limits with the default values.
    public init() {}

    /// Places where bytes that belong to no entry may lie.
    ///
    /// Junk with the signature of an entry, a directory or an end record can hide a second archive that one reader sees
    /// and another does not.
    public struct Junk: OptionSet, Sendable, Hashable {
        /// The bits of the set.
        public let rawValue: Int
        /// Makes a set with these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Before the first entry, as in a self-extracting archive; offsets may count from the first entry or from the
        /// start of the file.
        public static let leading = Junk(rawValue: 1)
        /// Between entries, and between the last one and the directory, where some tools leave bytes after removing an
        /// entry.
        public static let between = Junk(rawValue: 2)
        /// Bytes after the end record, for example where a tape format pads to whole blocks; at most 65,535 bytes.
        public static let trailing = Junk(rawValue: 4)
    }

    /// The encoding of a name's bytes.
    public struct NameEncoding: Sendable, Hashable {
        enum Value { case codePage437, utf8, host }
        let value: Value

        /// UTF-8 where the name is valid UTF-8 and was not made on MS-DOS or OS/2, and code page 437 otherwise.
        ///
        /// Info-ZIP's `zip` on Linux and the archivers of macOS write UTF-8 without the flag.
        public static let host = NameEncoding(value: .host)

        /// The original PC's code page 437, as the format's specification (APPNOTE D.1) requires.
        public static let codePage437 = NameEncoding(value: .codePage437)
        /// UTF-8 without the flag, from every system; names with other bytes are refused.
        public static let utf8 = NameEncoding(value: .utf8)
    }
}
