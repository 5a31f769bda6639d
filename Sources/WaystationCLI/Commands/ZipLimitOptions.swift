import ArgumentParser
import WaystationArchive
import WaystationStorage

/// The limits beyond which the commands refuse a zip; errors name them as `ZipLimits` does, such as `maximumEntrySize`.
struct ZipLimitOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The most files and folders. Default: 100000.", valueName: "count"))
    var maximumEntries: Int?

    @Option(help: ArgumentHelp("The largest file, such as 2GB. Default: 1 GiB.", valueName: "size"))
    var maximumEntrySize: SizeArgument?

    @Option(help: ArgumentHelp("The largest size of all files together. Default: 4 GiB.", valueName: "size"))
    var maximumTotalSize: SizeArgument?

    @Option(help: ArgumentHelp("How many times larger files may be than in the zip. Default: 200.", valueName: "times"))
    var maximumRatio: Int?

    @Option(help: ArgumentHelp("The most bytes in the path of a file. Default: 1024.", valueName: "count"))
    var maximumNameLength: Int?

    @Option(help: ArgumentHelp("The most parts in the path of a file. Default: 32.", valueName: "count"))
    var maximumDepth: Int?

    @Option(
        help: ArgumentHelp(
            "A place where parts of another archive are skipped: leading, between or trailing. May be repeated.",
            valueName: "place"
        )
    )
    var junk: [JunkPlace] = []

    /// A place of bytes that belong to no entry.
    enum JunkPlace: String, ExpressibleByArgument, CaseIterable {
        case leading, between, trailing

        var place: ZipLimits.Junk {
            switch self {
            case .leading: .leading
            case .between: .between
            case .trailing: .trailing
            }
        }
    }

    /// The limits.
    var limits: ZipLimits {
        var limits = ZipLimits()
        if let maximumEntries { limits.maximumEntries = maximumEntries }
        if let maximumEntrySize { limits.maximumEntrySize = maximumEntrySize.count.bytes }
        if let maximumTotalSize { limits.maximumTotalSize = maximumTotalSize.count.bytes }
        if let maximumRatio { limits.maximumRatio = maximumRatio }
        if let maximumNameLength { limits.maximumNameLength = maximumNameLength }
        if let maximumDepth { limits.maximumDepth = maximumDepth }
        limits.toleratedJunk = ZipLimits.Junk(junk.map(\.place))
        return limits
    }

    func validate() throws {
        for (name, value) in [
            ("entries", maximumEntries), ("ratio", maximumRatio), ("name-length", maximumNameLength),
            ("depth", maximumDepth),
        ] {
            guard value ?? 1 >= 1 else { throw ValidationError("--maximum-\(name) takes 1 or more.") }
        }
    }
}
