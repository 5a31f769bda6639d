import ArgumentParser
import Foundation
import WaystationPacks
import WaystationPublishing

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
