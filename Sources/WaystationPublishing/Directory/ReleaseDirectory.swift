public import Foundation
public import WaystationArchive
import WaystationFileSystem
public import WaystationPacks

/// The published packs, in a directory that any static file server can serve, or in a bucket of an object store.
///
/// ```swift
/// let releases = ReleaseDirectory(URL(filePath: "/srv/packs"))
/// try await releases.publish(zip: pack, signedBy: [key])  // clients follow at their next poll
/// try await releases.rollBack(shop, signedBy: [key])
/// ```
///
/// ```
/// catalogue.json                                the signed `Catalogue` that clients fetch
/// packs/shop/1.5/shop-1.5.zip                   a release, never changed once it is published
/// packs/shop/1.5/patches/1.4-content.patch      a patch that leads to it
/// packs/shop/1.5/patches/1.4-zip.patch
/// releases.json                                 the publisher's own record: `ReleaseIndex`
/// staging/…                                     files that are being published
/// lock                                          locked while a change is made
/// ```
///
/// **Changes are made completely or not at all.** Files are first written to a staging directory and synchronised to
/// the disk. Then a release's folder is renamed into place, `releases.json` is replaced, and `catalogue.json` last. A
/// kill between these two leaves clients with the previous catalogue; repeating the change, or
/// ``renew(within:signedBy:)``, writes the new one.
///
/// **Concurrency.** The tool and a server may work on one directory, each with several tasks: changes wait for one
/// another. A long publication makes its patches before it takes the lock, so an urgent roll-back does not wait for it.
///
/// **In a bucket** (``S3Bucket``) there is no lock, and any number of machines may publish at once. `releases.json` is
/// replaced only if it is still the version that was read; otherwise the change is made again from the new one. The
/// files of each attempt have a folder of their own, `packs/shop/1.5/7d1c…/`. The signed catalogue is first stored
/// beside the others, in `catalogues/`, so that whichever publisher comes next can put it in place after a kill.
/// Cancelling the task may end such a change between two requests, which has the effects of a kill.
///
/// Files for clients are readable by everybody (modes 0644 and 0755), all others by the owner only. All members may be
/// called from any thread; work that computes or waits for the disk runs away from Swift's threads. In a directory,
/// cancelling the task does not interrupt a change: the call waits for its end, and returns its result.
public struct ReleaseDirectory: Sendable {
    /// The settings of a release directory.
    public struct Configuration: Sendable, Hashable {
        /// How long a catalogue is valid for clients; seven days by default.
        ///
        /// After that, clients accept only a new or renewed catalogue, so an attacker cannot keep them on an old one for
        /// longer.
        public var validity: Duration
        /// The largest size of a patch, as a share of the whole pack's; larger patches are omitted.
        ///
        /// 0.6 by default.
        public var largestPatchShare: Double
        /// The limits beyond which a pack is refused; the defaults of `ZipLimits` by default.
        ///
        /// Clients with lower limits do not install a pack that is published with higher ones.
        public var zipLimits: ZipLimits

        /// Makes a configuration.
        public init(
            validity: Duration = .seconds(7 * 86_400),
            largestPatchShare: Double = 0.6,
            zipLimits: ZipLimits = ZipLimits()
        ) {
            self.validity = validity
            self.largestPatchShare = largestPatchShare
            self.zipLimits = zipLimits
        }
    }

    /// The directory, or the address of the bucket, such as `s3://releases/shop`; a directory is created by the first
    /// publication.
    public let directory: URL
    /// The path of the directory, or the address of the bucket, for messages.
    package var name: String { storage.name }
    /// The bucket; nil for a directory of this machine.
    public let bucket: S3Bucket?
    /// The settings of the directory.
    public let configuration: Configuration

    let environment: PackEnvironment
    let storage: any ReleaseStorage

    /// Makes a release directory; nothing is read or written yet.
    ///
    /// - Parameters:
    ///   - directory: The file URL of the directory; with any other URL, each call throws
    ///     ``WaystationPacks/PackError`` with `invalidArgument`.
    ///   - configuration: The settings.
    public init(_ directory: URL, configuration: Configuration = Configuration()) {
        self.init(directory, configuration: configuration, environment: PackEnvironment())
    }

    /// Makes a release directory in a bucket; nothing is read or written yet.
    public init(in bucket: S3Bucket, configuration: Configuration = Configuration()) {
        let environment = PackEnvironment()
        self.init(
            bucket.url,
            bucket,
            configuration,
            environment,
            BucketStorage(bucket, environment: environment)
        )
    }

    package init(_ directory: URL, configuration: Configuration = Configuration(), environment: PackEnvironment) {
        let root = directory.standardizedFileURL.path(percentEncoded: false)
        let storage = DirectoryStorage(
            environment: environment,
            layout: ReleaseLayout(root: root),
            problem: directory.fileURLProblem
        )
        self.init(directory, nil, configuration, environment, storage)
    }

    /// Makes a release directory in any bucket.
    package init(
        in bucket: any ObjectBucket,
        configuration: Configuration = Configuration(),
        environment: PackEnvironment
    ) {
        let storage = BucketStorage(bucket, environment: environment)
        self.init(bucket.url, nil, configuration, environment, storage)
    }

    private init(
        _ directory: URL,
        _ bucket: S3Bucket?,
        _ configuration: Configuration,
        _ environment: PackEnvironment,
        _ storage: any ReleaseStorage
    ) {
        self.directory = directory
        self.bucket = bucket
        self.configuration = configuration
        self.environment = environment
        self.storage = storage
    }

    /// Reads the present index; it is empty if the directory does not exist yet.
    ///
    /// - Throws: ``WaystationPacks/PackError`` when the index cannot be read.
    public func index() async throws(PackError) -> ReleaseIndex { try await storage.index() }
}
