/// The space on disk that a store may take, and the sizes of its steps: they follow from ``StoreLimits/maximumSize``.
///
/// At rest the directory takes at most ``directory``. While responses are written it may take a quarter more, and 4 MiB:
/// the log of the index, pages that are free, and the step that is being made.
struct DiskBudget: Sendable {
    /// The smallest size to which a directory is limited.
    ///
    /// The index of an empty store, the index of its log and the directories take about 200 KiB. A smaller limit counts
    /// the bytes of the responses alone, and their directory takes up to this size.
    static let smallestDirectory = 1 << 20

    /// What every directory takes in addition to its responses: the index of the log, the directories of eight
    /// processes, and small files.
    static let fixed = 96 << 10

    /// The bytes of all responses.
    let responses: Int
    /// The size of the directory at rest.
    let directory: Int

    init(_ size: ByteCount) {
        responses = size.bytes
        // Sums with a limit that is never reached must not overflow.
        directory = min(max(size.bytes, Self.smallestDirectory), .max / 8)
    }

    /// What eviction leaves.
    var lowWater: (responses: Int, directory: Int) { (Self.low(responses), Self.low(directory)) }

    private static func low(_ size: Int) -> Int { Int(Double(size) * StoreLimits.lowWaterMark) }

    /// The size of the log after which SQLite copies it into the index: 8 MiB for 112 MiB and more.
    var log: Int { min(8 << 20, (1 << 20) + directory / 16) }

    /// The bytes of bodies that one transaction adds or removes, apart from a single body that is larger: 4 MiB for
    /// 128 MiB and more.
    var step: Int { min(4 << 20, max(64 << 10, directory / 32)) }

    /// The bytes of bodies that may be in staging files at once; a single body may have all of them.
    var staged: Int { lowWater.directory + (64 << 10) }

    /// The size of the directory above which nothing is written.
    ///
    /// The difference to the highest size that is allowed is for the transactions that are made next, and for bodies that
    /// other stores have evicted whose files they have not removed yet: those are not counted any more.
    var peak: Int { directory + directory / 4 + (2 << 20) - 3 * step }
}

/// What a directory takes in addition to the index and the body files that rows name.
struct OtherSpace: Sendable {
    /// At most the bytes in staging files, of all processes: those found by the last count, and those written since.
    var staged = 0
    /// The bytes of staging files that this process has written since the last count.
    var stagedSinceCount = 0
    /// The sizes of body files that could not be removed.
    var unremoved: [BodyName: Int] = [:]
    /// The size of a damaged index that was moved aside.
    var setAside = 0

    var total: Int { DiskBudget.fixed + staged + unremoved.values.reduce(0, +) + setAside }

    /// Records bytes that are about to be written to a staging file.
    mutating func stage(_ count: Int) {
        staged += count
        stagedSinceCount += count
    }

    /// Records that a staging file was moved to its place.
    mutating func unstage(_ count: Int) { staged = max(0, staged - count) }
}
