public import Foundation
import WaystationFileSystem
public import WaystationPacks

/// The published packs, in a directory that any static file server can serve.
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
/// Files for clients are readable by everybody (modes 0644 and 0755), all others by the owner only. All members may be
/// called from any thread; work that computes or waits for the disk runs away from Swift's threads. Cancelling the task
/// does not interrupt it: the call waits for its end, and returns its result.
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

        /// Makes a configuration.
        public init(validity: Duration = .seconds(7 * 86_400), largestPatchShare: Double = 0.6) {
            self.validity = validity
            self.largestPatchShare = largestPatchShare
        }
    }

    /// The directory; created by the first publication.
    public let directory: URL
    /// The settings of the directory.
    public let configuration: Configuration

    let environment: PackEnvironment
    let layout: ReleaseLayout

    /// Makes a release directory; nothing is read or written yet.
    public init(_ directory: URL, configuration: Configuration = Configuration()) {
        self.init(directory, configuration: configuration, environment: PackEnvironment())
    }

    package init(_ directory: URL, configuration: Configuration = Configuration(), environment: PackEnvironment) {
        self.directory = directory
        self.configuration = configuration
        self.environment = environment
        layout = ReleaseLayout(root: directory.standardizedFileURL.path(percentEncoded: false))
    }

    /// Reads the present index; it is empty if the directory does not exist yet.
    ///
    /// - Throws: ``WaystationPacks/PackError`` when the index cannot be read.
    public func index() async throws(PackError) -> ReleaseIndex {
        try await onQueue("reading \(layout.root)") { try readIndex() }
    }

    func readIndex() throws -> ReleaseIndex {
        guard let json = try environment.fileSystem.readFile(layout.index, limit: ReleaseIndex.maximumSize) else {
            return ReleaseIndex()
        }
        return try ReleaseIndex(json: json, path: layout.index)
    }

    /// Runs work that computes or waits for the disk away from Swift's threads; it is never cancelled halfway.
    func onQueue<Value: Sendable>(
        _ task: String,
        _ body: @escaping @Sendable () throws -> Value
    ) async throws(PackError) -> Value {
        try await BlockingWork.uncancelled { () throws(PackError) in try onDisk(task, body) }
    }
}

/// Converts errors of the disk to a `PackError` that names the task.
private func onDisk<Value>(_ task: String, _ body: () throws -> Value) throws(PackError) -> Value {
    do {
        return try body()
    } catch let error as PackError {
        throw error
    } catch let error as FileError where error.isFull {
        throw PackError(
            .noSpace,
            "the disk is full while \(task): free some space; the published packs are unchanged",
            cause: error
        )
    } catch {
        throw PackError(
            .fileSystem,
            "the disk failed while \(task); try again, which also completes an unfinished change",
            cause: error
        )
    }
}
