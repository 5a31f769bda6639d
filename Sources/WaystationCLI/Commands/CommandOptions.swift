public import ArgumentParser
import Foundation
import Waystation
import WaystationArchive
public import WaystationPacks
import WaystationPublishing
import WaystationStorage

/// The release directory and the signing keys.
struct ReleaseOptions: ParsableArguments {
    @OptionGroup
    var place: ReleasePlaceOptions

    @Option(
        help: ArgumentHelp(
            "A file with the private key that signs the catalogue. Repeat it to sign with several keys.",
            valueName: "file"
        )
    )
    var key: [String]

    @Option(help: ArgumentHelp("The number of days for which clients accept the catalogue.", valueName: "days"))
    var validity = 7

    func directory(limits: ZipLimits = ZipLimits()) throws -> ReleaseDirectory {
        try place.directory(.init(validity: .seconds(validity * 86_400), zipLimits: limits))
    }

    var keys: [SigningKey] {
        get throws { try key.map { try KeyFile.read(URL(argument: $0)) } }
    }

    func validate() throws {
        guard !key.isEmpty else {
            throw ValidationError("Missing expected argument '--key <file>'; `waystation keys generate` makes one.")
        }
        guard (1...3650).contains(validity) else { throw ValidationError("--validity takes 1 to 3650 days.") }
    }
}

extension ReleaseDirectory {
    /// Refuses a directory in which nothing is published: its path may be mistyped, and a change would create it.
    func requirePublished() async throws {
        guard try await index().serial > 0 else {
            throw PackError(.notInstalled, "nothing is published in \(name): check the path")
        }
    }
}

/// The state of a module after a change.
struct ReleaseResult: CommandResult {
    let module: ModuleID
    let isActive: Bool
    let live: PackVersion?
    let rollout: Rollout?
    let minimumVersion: PackVersion?
    let network: NetworkCondition?
    let serial: UInt64

    init(_ module: ModuleID, _ index: ReleaseIndex) {
        let known = index[module]
        self.module = module
        isActive = known?.isActive ?? false
        live = known?.live
        rollout = known?.rollout
        minimumVersion = known?.minimumVersion
        network = known?.network
        serial = index.serial
    }

    var text: String {
        let version = live.map { "\(module) \($0) is live" } ?? "no version of \(module) is live"
        let share = rollout.map { ", \($0.version) for \($0.percentage.formatted()) % of the clients" } ?? ""
        let minimum = minimumVersion.map { ", \($0) is the lowest that may be used" } ?? ""
        let condition = network.map { ", downloaded on a network that is \($0)" } ?? ""
        return version + share + minimum + condition + (isActive ? "" : ", and the module is switched off")
            + " (catalogue \(serial))"
    }
}

/// The release directory: a directory of this machine, or a bucket.
struct ReleasePlaceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The release directory: a directory, or a bucket with a prefix, s3://bucket/prefix.",
            valueName: "dir"
        )
    )
    var to: String

    @Option(
        help: ArgumentHelp(
            "The URL of the bucket's store, if it is not that of AWS_ENDPOINT_URL_S3 or AWS.",
            valueName: "url"
        )
    )
    var endpoint: WebAddress?

    @Option(help: ArgumentHelp("The bucket's region, if it is not that of AWS_REGION.", valueName: "name"))
    var region: String?

    @Option(
        help: ArgumentHelp(
            "The part of a URL that names the bucket: host or path. Default: host for AWS, path for other stores.",
            valueName: "part"
        )
    )
    var bucketIn: BucketPart?

    func directory(_ configuration: ReleaseDirectory.Configuration = .init()) throws -> ReleaseDirectory {
        guard S3Location.isAddress(to) else {
            return ReleaseDirectory(URL(argument: to), configuration: configuration)
        }
        var settings = try S3Bucket.Configuration(environment: ProcessInfo.processInfo.environment)
        if let endpoint { settings.endpoint = endpoint.url }
        if let region { settings.region = region }
        if let bucketIn { settings.addressing = bucketIn.style }
        return ReleaseDirectory(in: try S3Bucket(to, settings), configuration: configuration)
    }

    func validate() throws {
        guard !S3Location.isAddress(to), endpoint != nil || region != nil || bucketIn != nil else { return }
        throw ValidationError("--endpoint, --region and --bucket-in are for a bucket: --to s3://bucket/prefix.")
    }
}

/// The part of a URL that names a bucket.
enum BucketPart: String, ExpressibleByArgument, CaseIterable {
    case host, path

    var style: S3Bucket.AddressingStyle { self == .host ? .virtualHost : .path }
}

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

extension ModuleID: ExpressibleByArgument {}
extension PackVersion: ExpressibleByArgument {}
extension TrustedKey: ExpressibleByArgument {}
extension PatchOffer.Kind: ExpressibleByArgument {}

extension NetworkCondition: ExpressibleByArgument {
    /// Accepts any name; the release directory decides which names may be published.
    public init?(argument: String) { self.init(argument) }
}

extension URL {
    /// The file or folder for an argument, with symbolic links resolved.
    init(argument: String) { self = URL(filePath: argument).resolvingSymlinksInPath() }
}

/// An http or https URL.
struct WebAddress: ExpressibleByArgument {
    let url: URL

    init?(argument: String) {
        guard let url = URL(string: argument), url.isHTTP else { return nil }
        self.url = url
    }
}

/// A point in time in the form of RFC 3339.
struct Moment: ExpressibleByArgument {
    let date: Date

    init?(argument: String) {
        guard let date = try? Date(argument, strategy: .iso8601) else { return nil }
        self.date = date
    }
}

/// A media type for a path, `path=type`.
struct MediaTypeOverride: ExpressibleByArgument {
    let path: String
    let type: String

    init?(argument: String) {
        guard let equals = argument.lastIndex(of: "="), equals != argument.startIndex else { return nil }
        path = String(argument[..<equals])
        type = String(argument[argument.index(after: equals)...])
    }
}

extension ModuleID {
    /// The help of an option with the module of a pack; errors show it.
    static var help: String {
        "The module that the pack belongs to: 1 to 64 letters, digits, '.', '_' and '-', not beginning with a dot."
    }
}
