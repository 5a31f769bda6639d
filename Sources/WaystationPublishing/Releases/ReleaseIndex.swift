public import Foundation
public import WaystationPacks

/// The publisher's own record of everything that a release directory has published: the file `releases.json`.
///
/// The catalogue that clients fetch is made from this index, and so are the answers of servers that use the older formats.
///
/// ```json
/// {"catalogue":"sha256-5f0c…","expires":"2026-03-08T12:00:00Z","formatVersion":1,"issued":"2026-03-01T12:00:00Z",
///  "keys":["9e107d9d372bb682"],"modules":[{"history":["1.4"],"isActive":true,"live":"1.5","module":"shop",
///  "releases":[…]}],"serial":12}
/// ```
public struct ReleaseIndex: Sendable, Hashable, Codable {
    /// The version of the format that this code reads and writes.
    public static let currentFormatVersion = 1

    static let maximumSize = 64 << 20

    /// The version of the format.
    public internal(set) var formatVersion = Self.currentFormatVersion
    /// The serial number of the catalogue; 0 before the first.
    public internal(set) var serial: UInt64 = 0
    /// The time when the catalogue was signed; nil before the first.
    public internal(set) var issued: Date?
    /// The time from which the catalogue is not valid any more; nil before the first.
    public internal(set) var expires: Date?
    /// The ids of the keys that signed it.
    public internal(set) var keys: [String] = []
    /// The SHA-256 of the catalogue file; a file with another one was not made from this index.
    public internal(set) var catalogue: PackDigest?
    /// The modules, sorted by name.
    public internal(set) var modules: [Module] = []

    /// A module and its releases.
    public struct Module: Sendable, Hashable, Codable {
        /// The module.
        public internal(set) var module: ModuleID
        /// Whether the module's pack may be used at all.
        public internal(set) var isActive = true
        /// The version that clients should have; nil while the first version is being rolled out.
        public internal(set) var live: PackVersion?
        /// The rollout of a version that a share of the clients gets before it becomes live.
        public internal(set) var rollout: Rollout?
        /// The versions that were live before and that a rollback leads to: lower than ``live``, the highest last.
        public internal(set) var history: [PackVersion] = []
        /// The lowest version that may still be served, as the publisher set it; nil when every version may.
        public internal(set) var minimumVersion: PackVersion?
        /// The network condition of clients' downloads; nil means any network.
        public internal(set) var network: NetworkCondition?
        /// All releases, in the order in which they were published.
        public internal(set) var releases: [Release] = []

        init(_ module: ModuleID) { self.module = module }

        /// The release of a version; nil if the version was not published.
        public func release(_ version: PackVersion?) -> Release? {
            version.flatMap { version in releases.first { $0.version == version } }
        }

        /// The share of the clients that get a version, in per cent.
        func percentage(of version: PackVersion) -> Double {
            if live == version { return 100 }
            return rollout?.version == version ? rollout?.percentage ?? 0 : 0
        }

        /// The lowest version that may be served now: the publisher's minimum or that of the live release, whichever is
        /// higher.
        public var lowestUsableVersion: PackVersion? {
            [minimumVersion, release(live)?.minimumPackVersion].compactMap(\.self).max()
        }
    }

    /// A version of a module, with the files that clients may fetch.
    public struct Release: Sendable, Hashable, Codable {
        /// The version.
        public internal(set) var version: PackVersion
        /// The time of the publication.
        public internal(set) var published: Date
        /// The release date in its manifest.
        public internal(set) var released: Date?
        /// The SHA-256 of its manifest.
        public internal(set) var manifest: PackDigest
        /// The total size of its files in bytes.
        public internal(set) var installedSize: Int
        /// The number of its files.
        public internal(set) var fileCount: Int
        /// The URLs at which its root is served.
        public internal(set) var baseURLs: [String]
        /// The lowest version of the app that can use it.
        public internal(set) var minimumAppVersion: PackVersion?
        /// The lowest version of the module that may still be used once this one is live.
        public internal(set) var minimumPackVersion: PackVersion?
        /// The whole pack.
        public internal(set) var archive: File
        /// The patches that lead to it.
        public internal(set) var patches: [Patch]
    }

    /// A patch that leads to a release.
    public struct Patch: Sendable, Hashable, Codable {
        /// The kind of bytes that the patch is applied to.
        public internal(set) var kind: PatchOffer.Kind
        /// The version that the patch is applied to.
        public internal(set) var from: PackVersion
        /// The SHA-256 of the base.
        public internal(set) var base: PackDigest
        /// The SHA-256 of the result.
        public internal(set) var result: PackDigest
        /// The patch file.
        public internal(set) var file: File
    }

    /// A file that clients fetch.
    public struct File: Sendable, Hashable, Codable {
        /// The path in the release directory; it needs no encoding in a URL.
        public internal(set) var path: String
        /// The size in bytes.
        public internal(set) var size: Int
        /// The SHA-256 of the bytes.
        public internal(set) var sha256: PackDigest
        /// The MD5 of the bytes, for clients that support nothing else.
        public internal(set) var md5: PackDigest
    }

    /// Makes an empty index.
    init() {}

    /// A module; nil when nothing was ever published for it.
    public subscript(module: ModuleID) -> Module? { modules.first { $0.module == module } }

    /// The number of all releases.
    public var releaseCount: Int { modules.reduce(0) { $0 + $1.releases.count } }
}

extension ReleaseIndex {
    /// The catalogue of everything that is published, with this index's serial number.
    ///
    /// It has all releases, so that clients can be rolled back. A catalogue has one minimum app version for each
    /// module: during a rollout, it is the higher one of the live version and the version that is rolled out.
    ///
    /// - Parameters:
    ///   - issued: The time when it is signed.
    ///   - expires: The time from which it is not valid any more.
    /// - Returns: The catalogue, not yet signed.
    public func catalogue(issued: Date, expires: Date) -> Catalogue {
        Catalogue(serial: serial, issued: issued, expires: expires, modules: modules.map(\.entry))
    }
}

extension ReleaseIndex.Module {
    fileprivate var entry: Catalogue.Module {
        var entry = Catalogue.Module(module, live: live, releases: releases.map(\.entry))
        entry.isActive = isActive
        entry.rollout = rollout
        entry.minimumVersion = lowestUsableVersion
        entry.network = network
        entry.minimumAppVersion = [live, rollout?.version].compactMap { release($0)?.minimumAppVersion }.max()
        return entry
    }
}

extension ReleaseIndex.Release {
    fileprivate var entry: Catalogue.Release {
        Catalogue.Release(
            version,
            released: released,
            manifest: manifest,
            installedSize: installedSize,
            archive: archive.entry,
            patches: patches.isEmpty ? nil : patches.map(\.entry)
        )
    }
}

extension ReleaseIndex.Patch {
    fileprivate var entry: Catalogue.Patch {
        Catalogue.Patch(kind, from: from, base: base, result: result, artifact: file.entry)
    }
}

extension ReleaseIndex.File {
    fileprivate var entry: Catalogue.File { Catalogue.File(url: path, size: size, digest: sha256) }
}

extension ReleaseIndex {
    private struct Format: Decodable { let formatVersion: Int }

    /// Reads `releases.json`.
    init(json: Data, path: String) throws(PackError) {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        do {
            let format = try decoder.decode(Format.self, from: json).formatVersion
            guard format == Self.currentFormatVersion else {
                throw PackError(
                    .unsupportedVersion,
                    "\(path) has format version \(format), but only version \(Self.currentFormatVersion) is supported: "
                        + "use the tool that wrote it, or a newer one"
                )
            }
            self = try decoder.decode(ReleaseIndex.self, from: json)
        } catch let error as PackError {
            throw error
        } catch {
            throw PackError(
                .damaged,
                "\(path) cannot be read: restore it from a backup; only the publisher writes it",
                cause: error
            )
        }
    }

    /// The error for a place that has files of releases, but no index.
    ///
    /// The index is written before the catalogue, so it must have been deleted if there is a catalogue. An index made
    /// anew would not know the files that clients need, and clients would refuse its catalogues, whose serial numbers
    /// would begin again.
    static func missing(at place: String, beside file: String) -> PackError {
        PackError(
            .damaged,
            "\(place) has \(file), but no releases.json; nothing was changed: restore releases.json from a backup, or "
                + "in a bucket from an earlier version of the object"
        )
    }

    /// The index as JSON: dates in the form of RFC 3339, members sorted by name.
    ///
    /// - Throws: ``WaystationPacks/PackError`` when it cannot be written.
    public func json() throws(PackError) -> Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return try encoder.encode(self)
        } catch {
            throw PackError(.invalidArgument, "the release index cannot be written as JSON", cause: error)
        }
    }
}

/// The rules for publishing, rolling back and switching off; pure functions without disk access.
extension ReleaseIndex {
    /// Checks that a pack may be published as a version.
    ///
    /// - Throws: ``PackError`` when another pack was published with this version, or when a higher version is live.
    func check(_ archive: PackDigest, canBePublishedAs version: PackVersion, of module: ModuleID) throws(PackError) {
        guard let known = self[module] else { return }
        if let release = known.release(version), release.archive.sha256 != archive {
            throw PackError(
                .invalidArgument,
                "\(module) \(release.version) is already published with other contents: "
                    + "give the new pack a higher version"
            )
        }
        if let live = known.live, version < live {
            throw PackError(
                .invalidArgument,
                "\(module) \(live) is live and higher than \(version): roll back to \(version) if that is intended, "
                    + "or publish a higher version"
            )
        }
        if let minimum = known.minimumVersion, version < minimum {
            throw PackError(
                .invalidArgument,
                "\(module) \(version) is below the minimum version \(minimum): publish a higher one, or lower the minimum"
            )
        }
    }

    /// Checks that a new version does not look like a mistake, such as a pack of the wrong folder or of a failed build.
    ///
    /// A version that was published before is not checked again.
    ///
    /// - Throws: ``PackError`` for a pack without files, and, unless that is allowed, for one with fewer than half of
    ///   the files of the live version.
    func check(
        fileCount: Int,
        of version: PackVersion,
        of module: ModuleID,
        allowingFewerFiles isFewerAllowed: Bool
    ) throws(PackError) {
        let known = self[module]
        guard known?.release(version) == nil else { return }
        guard fileCount > 0 else {
            throw PackError(
                .invalidArgument,
                "\(module) \(version) holds no files: build it from another folder, "
                    + "or disable the module if its pages should load online"
            )
        }
        guard !isFewerAllowed, let before = known?.release(known?.live) ?? known?.releases.last,
            fileCount < before.fileCount - fileCount
        else { return }
        throw PackError(
            .invalidArgument,
            "\(module) \(version) holds \(fileCount) files, but \(before.version) holds \(before.fileCount): "
                + "fewer than half looks like a wrong folder; if that is intended, publish it with --force"
        )
    }

    /// Makes a release live, or rolls it out to a share of the clients.
    ///
    /// - Parameters:
    ///   - release: The release; it is added if it was not published before.
    ///   - module: Its module.
    ///   - percentage: The share of the clients that get it. If nil, a release that is being rolled out keeps its
    ///     share, and every other one becomes live.
    mutating func publish(_ release: Release, of module: ModuleID, percentage: Double?) {
        change(module) { known in
            if known.release(release.version) == nil { known.releases.append(release) }
            guard known.live != release.version else { return }
            if percentage == nil, known.rollout?.version == release.version { return }
            if let percentage, percentage < 100 {
                // The salt does not change as the share grows, so that clients that have the version keep it.
                let salt = String(release.manifest.hex.prefix(16))
                known.rollout = Rollout(release.version, percentage: percentage, salt: salt)
                return
            }
            // The rollout of a higher version continues beside the new live one.
            if let rollout = known.rollout, rollout.version <= release.version { known.rollout = nil }
            if let live = known.live { known.history.append(live) }
            known.live = release.version
        }
    }

    /// Goes back to an earlier version.
    ///
    /// - Parameters:
    ///   - module: The module.
    ///   - version: The version; nil takes back the last step: the current rollout, or else the live version.
    /// - Returns: The version that is live now; nil when the ended rollout was of the first version.
    /// - Throws: ``PackError`` when there is no version to go back to.
    mutating func rollBack(_ module: ModuleID, to version: PackVersion?) throws(PackError) -> PackVersion? {
        let known = try published(module)
        if version == nil || version == known.live, known.rollout != nil {
            change(module) { $0.rollout = nil }
            return known.live
        }
        guard let target = version ?? known.history.last else {
            throw PackError(
                .invalidArgument,
                "no earlier version of \(module) was live: name a version, or disable the module"
            )
        }
        guard let release = known.release(target) else {
            let others = known.releases.map(\.version.description).joined(separator: ", ")
            throw PackError(.notInstalled, "\(module) \(target) was never published; its versions are \(others)")
        }
        guard let live = known.live else {
            throw PackError(.invalidArgument, "\(module) has no live version that could be rolled back")
        }
        guard target < live else {
            throw PackError(
                .invalidArgument,
                "\(module) \(target) is not earlier than \(live), which is live: to go forward, publish it again"
            )
        }
        if let minimum = known.minimumVersion, target < minimum {
            throw PackError(
                .invalidArgument,
                "\(module) \(target) is below the minimum version \(minimum): lower the minimum first"
            )
        }
        change(module) { known in
            known.live = release.version
            known.rollout = nil
            known.history.removeAll { $0 >= target }
        }
        return release.version
    }

    /// Switches a module on or off.
    mutating func setEnabled(_ isEnabled: Bool, _ module: ModuleID) throws(PackError) {
        _ = try published(module)
        change(module) { $0.isActive = isEnabled }
    }

    /// Sets the lowest version that may still be served.
    mutating func setMinimumVersion(_ version: PackVersion?, of module: ModuleID) throws(PackError) {
        let known = try published(module)
        if let version, known.live.map({ $0 < version }) ?? true {
            throw PackError(
                .invalidArgument,
                "no client could fulfil the minimum version \(version) of \(module), since "
                    + (known.live.map { "\($0)" } ?? "no version") + " is live: publish a higher one first"
            )
        }
        change(module) { $0.minimumVersion = version }
    }

    /// Sets the kind of network on which clients download a module's packs.
    mutating func setNetwork(_ condition: NetworkCondition, of module: ModuleID) throws(PackError) {
        try condition.checkForPublishing()
        _ = try published(module)
        change(module) { $0.network = condition == .any ? nil : condition }
    }

    /// Removes releases that are not needed any more.
    ///
    /// - Returns: The removed releases.
    mutating func prune(_ module: ModuleID?, keeping count: Int) throws(PackError) -> [Pruning.Release] {
        let names = try module.map { name throws(PackError) in [try published(name).module] } ?? modules.map(\.module)
        var removed: [Pruning.Release] = []
        for name in names {
            change(name) { known in
                let kept = known.needed.union(known.releases.suffix(count).map(\.version))
                let gone = known.releases.map(\.version).filter { !kept.contains($0) }
                known.releases.removeAll { gone.contains($0.version) }
                known.history.removeAll(where: gone.contains)
                removed += gone.map { Pruning.Release(module: name, version: $0) }
            }
        }
        return removed
    }

    private func published(_ module: ModuleID) throws(PackError) -> Module {
        guard let known = self[module] else {
            let others = modules.map(\.module.description).joined(separator: ", ")
            throw PackError(
                .notInstalled,
                "nothing was published for \(module)" + (others.isEmpty ? "" : "; the published modules are \(others)")
            )
        }
        return known
    }

    /// Changes a module; a new one is inserted in the order of names.
    private mutating func change(_ module: ModuleID, _ body: (inout Module) -> Void) {
        let index = modules.firstIndex { $0.module >= module } ?? modules.endIndex
        if index == modules.endIndex || modules[index].module != module { modules.insert(Module(module), at: index) }
        body(&modules[index])
    }
}

extension ReleaseIndex.Module {
    /// The versions that must be kept: those that clients get or may be rolled back to, and those from which patches
    /// lead to the former.
    fileprivate var needed: Set<PackVersion> {
        let targets = [live, rollout?.version].compactMap(\.self)
        let bases = targets.compactMap(release).flatMap(\.patches).map(\.from)
        // A version number above the live one has been used for this pack, and must not be used for another.
        let higher = releases.map(\.version).filter { version in live.map { version > $0 } ?? true }
        return Set(targets + bases + higher + [history.last].compactMap(\.self))
    }
}

/// The result of a publication.
public struct Publication: Sendable {
    /// A patch that was not made or not kept.
    public struct OmittedPatch: Sendable, Hashable {
        /// The kind of bytes that it would have been applied to.
        public var kind: PatchOffer.Kind
        /// The version that it would have been applied to.
        public var from: PackVersion
        /// The reason why the patch was omitted.
        public var reason: String
    }

    /// The module.
    public let module: ModuleID
    /// The release that was published.
    public let release: ReleaseIndex.Release
    /// The share of the clients that get it, 0 to 100.
    public let percentage: Double
    /// Whether the release is new.
    public let isNew: Bool
    /// The patches that were too large to be worth keeping, or could not be made.
    public let omitted: [OmittedPatch]
    /// The index afterwards, with all modules.
    public let index: ReleaseIndex

    /// The releases of the module that ``ReleaseDirectory/prune(_:keeping:signedBy:)`` would remove after this
    /// publication.
    package func pruning(keeping count: Int) throws(PackError) -> Pruning {
        var index = index
        let removed = try index.prune(module, keeping: count)
        if !removed.isEmpty { index.serial &+= 1 }
        return Pruning(removed: removed, index: index)
    }
}

/// The result of removing old releases.
public struct Pruning: Sendable {
    /// A release that was removed.
    public struct Release: Sendable, Hashable {
        /// The release's module.
        public var module: ModuleID
        /// The release's version.
        public var version: PackVersion
    }

    /// The releases that were removed.
    public let removed: [Release]
    /// The index afterwards.
    public let index: ReleaseIndex
}
