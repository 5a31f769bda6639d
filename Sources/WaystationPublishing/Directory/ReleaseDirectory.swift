public import Foundation
import WaystationFileSystem
public import WaystationPacks

/// The packs that are published, in a directory that any static file server can serve.
///
/// ```swift
/// let releases = ReleaseDirectory(URL(filePath: "/srv/packs"))
/// try await releases.publish(zip: pack, signedBy: [key])  // clients follow at their next poll
/// try await releases.rollBack(shop, signedBy: [key])
/// ```
///
/// ```
/// catalogue.json                                what clients fetch: a signed `Catalogue`
/// packs/shop/1.5/shop-1.5.zip                   a release, never changed once it is published
/// packs/shop/1.5/patches/1.4-content.patch      a shorter way to it
/// packs/shop/1.5/patches/1.4-zip.patch
/// releases.json                                 the publisher's own truth: `ReleaseIndex`
/// staging/…                                     what is being published
/// lock                                          locked while a change is made
/// ```
///
/// **Changes are whole or are not there.** Files are written aside and brought onto the medium first, a release's folder
/// is renamed into place, then `releases.json` is replaced, and `catalogue.json` last. A kill between these two leaves
/// clients with the catalogue from before; the same change made again, or ``renew(within:signedBy:)``, writes the new one.
///
/// **Several at once.** The tool and a server may work on one directory, and several tasks of each: changes wait for one
/// another, and a long publication makes its patches before it waits, so that an urgent roll-back does not wait for it.
///
/// What clients fetch can be read by everybody (modes 0644 and 0755), the rest by the owner alone. All members may be
/// called from any thread; work that computes or waits for the disk is done away from Swift's own. It is not cut short by
/// a task's cancellation: the call waits, and tells what was done.
public struct ReleaseDirectory: Sendable {
    /// How a directory is kept.
    public struct Configuration: Sendable, Hashable {
        /// How long clients believe a catalogue; seven days by default.
        ///
        /// Without a new one, or a renewed one, they accept nothing more after that: nobody can hold them back longer.
        public var validity: Duration
        /// The share of the whole pack above which a patch is not worth its trouble; 0.6 by default.
        public var largestPatchShare: Double

        /// A configuration.
        public init(validity: Duration = .seconds(7 * 86_400), largestPatchShare: Double = 0.6) {
            self.validity = validity
            self.largestPatchShare = largestPatchShare
        }
    }

    /// The directory; made by the first publication.
    public let directory: URL
    /// How it is kept.
    public let configuration: Configuration

    let environment: PackEnvironment
    let layout: ReleaseLayout

    /// A directory of releases; nothing is read or written yet.
    public init(_ directory: URL, configuration: Configuration = Configuration()) {
        self.init(directory, configuration: configuration, environment: PackEnvironment())
    }

    package init(_ directory: URL, configuration: Configuration = Configuration(), environment: PackEnvironment) {
        self.directory = directory
        self.configuration = configuration
        self.environment = environment
        layout = ReleaseLayout(root: directory.standardizedFileURL.path(percentEncoded: false))
    }

    /// What is published now; nothing where there is no such directory yet.
    ///
    /// - Throws: ``WaystationPacks/PackError`` when it cannot be read.
    public func index() async throws(PackError) -> ReleaseIndex {
        try await onQueue("reading \(layout.root)") { try readIndex() }
    }

    func readIndex() throws -> ReleaseIndex {
        guard let json = try environment.fileSystem.readFile(layout.index, limit: ReleaseIndex.maximumSize) else {
            return ReleaseIndex()
        }
        return try ReleaseIndex(json: json, path: layout.index)
    }

    /// Runs work that computes or waits for the disk away from Swift's threads, and to its end: half a change helps nobody.
    func onQueue<Value: Sendable>(
        _ task: String,
        _ body: @escaping @Sendable () throws -> Value
    ) async throws(PackError) -> Value {
        try await BlockingWork.uncancelled { () throws(PackError) in try onDisk(task, body) }
    }
}

/// Turns what the disk throws into an error that says what it was about.
private func onDisk<Value>(_ task: String, _ body: () throws -> Value) throws(PackError) -> Value {
    do {
        return try body()
    } catch let error as PackError {
        throw error
    } catch let error as FileError where error.isFull {
        throw PackError(
            .noSpace,
            "the disk is full while \(task): free some space; what is published is as it was",
            cause: error
        )
    } catch {
        throw PackError(
            .fileSystem,
            "the disk failed while \(task); try again, which also completes what was begun",
            cause: error
        )
    }
}
