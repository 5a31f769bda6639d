public import Foundation
import WaystationHTTP
import WaystationStorage

/// Everything that is published: the versions of all modules, and which of them are live.
///
/// It is static JSON, signed as a whole in a ``SignedEnvelope``, so any file server or CDN can serve it. Dates are in
/// the form of RFC 3339, `2026-11-21T18:00:00Z`; URLs may be relative to the catalogue's own. Unknown members are
/// ignored.
public struct Catalogue: Sendable, Hashable, Codable {
    /// The media type of the envelope's payload.
    public static let mediaType = "application/vnd.waystation.catalogue+json"
    /// The version of the format that this code reads and writes.
    public static let currentFormatVersion = 1

    /// The version of the format.
    public var formatVersion: Int
    /// The catalogue's serial number: higher than that of every earlier catalogue of the publisher.
    public var serial: UInt64
    /// The time when it was signed.
    public var issued: Date
    /// The time from which it is not valid any more.
    public var expires: Date
    /// The modules.
    public var modules: [Module]

    /// Makes a catalogue.
    public init(serial: UInt64, issued: Date, expires: Date, modules: [Module]) {
        formatVersion = Self.currentFormatVersion
        self.serial = serial
        self.issued = issued
        self.expires = expires
        self.modules = modules
    }

    /// A module and its releases.
    public struct Module: Sendable, Hashable, Codable {
        /// The module.
        public var module: ModuleID
        /// Whether the module's pack may be used at all.
        public var isActive: Bool
        /// The version that clients should have; nil if no version is live.
        public var live: PackVersion?
        /// The version that a share of the clients should have instead; nil if no rollout is under way.
        public var rollout: Rollout?
        /// The lowest version that may still be served; nil when every version may.
        public var minimumVersion: PackVersion?
        /// The lowest version of the app that the releases work with; nil when every version does.
        public var minimumAppVersion: PackVersion?
        /// The network condition of the download; nil means any network.
        public var network: NetworkCondition?
        /// The URLs at which the pack's root is served; nil when the pack's own manifest has them.
        public var baseURLs: [String]?
        /// The releases that can be installed.
        public var releases: [Release]

        /// Makes a module that is switched on.
        public init(_ module: ModuleID, live: PackVersion? = nil, releases: [Release] = []) {
            self.module = module
            self.live = live
            self.releases = releases
            isActive = true
        }
    }

    /// A version of a module.
    public struct Release: Sendable, Hashable, Codable {
        /// The version.
        public var version: PackVersion
        /// The release date.
        public var released: Date?
        /// The SHA-256 of the version's manifest.
        public var manifest: PackDigest
        /// The installed size in bytes; nil when it was not computed.
        public var installedSize: Int?
        /// The whole pack.
        public var archive: File
        /// The patches that lead to this version; nil when there are none.
        public var patches: [Patch]?

        /// Makes a release.
        public init(
            _ version: PackVersion,
            released: Date? = nil,
            manifest: PackDigest,
            installedSize: Int? = nil,
            archive: File,
            patches: [Patch]? = nil
        ) {
            self.version = version
            self.released = released
            self.manifest = manifest
            self.installedSize = installedSize
            self.archive = archive
            self.patches = patches
        }
    }

    /// A patch that leads to a release.
    public struct Patch: Sendable, Hashable, Codable {
        /// The kind of file that the patch is applied to.
        public var kind: PatchOffer.Kind
        /// The version that the patch is applied to.
        public var from: PackVersion
        /// The digest of the base: of the manifest for a content patch, of the zip for a zip patch.
        public var base: PackDigest
        /// The digest of the result, of the same kind as the base.
        public var result: PackDigest
        /// The patch file.
        public var artifact: File

        /// Makes a patch.
        public init(
            _ kind: PatchOffer.Kind,
            from: PackVersion,
            base: PackDigest,
            result: PackDigest,
            artifact: File
        ) {
            self.kind = kind
            self.from = from
            self.base = base
            self.result = result
            self.artifact = artifact
        }
    }

    /// A file that clients fetch.
    public struct File: Sendable, Hashable, Codable {
        /// The URL, absolute or relative to the catalogue's URL.
        public var url: String
        /// The size in bytes.
        public var size: Int
        /// The SHA-256 of the bytes.
        public var digest: PackDigest

        /// Describes a file.
        public init(url: String, size: Int, digest: PackDigest) {
            self.url = url
            self.size = size
            self.digest = digest
        }
    }
}

extension Catalogue {
    /// Checks that the catalogue does not contradict itself.
    ///
    /// - Throws: ``PackError`` with ``PackError/Code/badAnswer``, which names the place.
    public func validate() throws(PackError) {
        try require(issued < expires, "the catalogue expires before it is issued")
        var seen: Set<ModuleID> = []
        for module in modules {
            try require(seen.insert(module.module).inserted, "module \(module.module) is listed twice")
            try module.validate()
        }
    }
}

extension Catalogue.Module {
    fileprivate func validate() throws(PackError) {
        var versions: Set<PackVersion> = []
        for release in releases {
            let name = "\(module) \(release.version)"
            try require(versions.insert(release.version).inserted, "\(name) is listed twice")
            try require(release.manifest.algorithm == .sha256, "the manifest of \(name) has no SHA-256")
            try require((release.installedSize ?? 0) >= 0, "the installed size of \(name) is negative")
            try release.archive.validate("the archive of \(name)")
            for patch in release.patches ?? [] {
                let name = "the patch from \(patch.from) to \(name)"
                try require(patch.from != release.version, "\(name) leads to the version that it starts from")
                try require(
                    patch.base.algorithm == .sha256 && patch.result.algorithm == .sha256,
                    "\(name) has no SHA-256 of its base or its result"
                )
                try patch.artifact.validate(name)
            }
        }
        if let live {
            try require(versions.contains(live), "the live version \(live) of \(module) is not among its releases")
        }
        if let rollout {
            try require(
                versions.contains(rollout.version),
                "the rollout version \(rollout.version) of \(module) is not among its releases"
            )
            try require((0...100).contains(rollout.percentage), "the rollout of \(module) is not 0 to 100 per cent")
        }
    }
}

extension Catalogue.File {
    fileprivate func validate(_ name: String) throws(PackError) {
        try require(size >= 0, "the size of \(name) is negative")
        try require(digest.algorithm == .sha256, "\(name) has no SHA-256")
    }
}

private func require(_ condition: Bool, _ contradiction: String) throws(PackError) {
    guard condition else {
        throw PackError(.badAnswer, "the catalogue contradicts itself: \(contradiction); publish a corrected one")
    }
}

extension Catalogue {
    /// The signed catalogue in the form that is published: a ``SignedEnvelope`` in JSON.
    ///
    /// The same catalogue and keys give the same payload bytes each time.
    ///
    /// - Throws: ``PackError`` with ``PackError/Code/badAnswer`` when the catalogue contradicts itself, since no client
    ///   would accept it.
    public func signed(by keys: [SigningKey]) throws -> Data {
        try validate()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        do {
            let envelope = try SignedEnvelope(encoder.encode(self), type: Self.mediaType, signedBy: keys)
            return try encoder.encode(envelope)
        } catch let error as PackError {
            throw error
        } catch {
            throw PackError(.invalidArgument, "the catalogue cannot be written as JSON", cause: error)
        }
    }

    /// Reads a signed catalogue and checks it.
    ///
    /// - Parameters:
    ///   - envelope: The bytes as they were fetched.
    ///   - keys: The trusted keys.
    ///   - threshold: How many different keys must have signed; 1 by default.
    ///   - state: The state after the last accepted catalogue; nil before the first.
    ///   - now: The present.
    /// - Returns: The catalogue, and the state to store.
    /// - Throws: ``PackError``: ``PackError/Code/untrusted`` when valid signatures are missing,
    ///   ``PackError/Code/rolledBack`` when the catalogue is older than the last one or differs from it under the same
    ///   serial number, ``PackError/Code/expired``, ``PackError/Code/unsupportedVersion``, and
    ///   ``PackError/Code/badAnswer`` when it cannot be read or contradicts itself.
    public static func opening(
        _ envelope: Data,
        signedBy keys: [TrustedKey],
        threshold: Int = 1,
        after state: CatalogueState?,
        now: Date
    ) throws -> (catalogue: Catalogue, state: CatalogueState) {
        let payload = try decode(SignedEnvelope.self, from: envelope, "the signed envelope")
            .payload(ofType: mediaType, signedBy: keys, threshold: threshold)
        // The version of the format is read first, since a newer format may not be readable as this one.
        let format = try decode(Format.self, from: payload, "the catalogue").formatVersion
        guard format == currentFormatVersion else {
            throw PackError(
                .unsupportedVersion,
                "the catalogue is written in version \(format) of its format, but only version 1 is supported: "
                    + "update the app"
            )
        }
        let catalogue = try decode(Catalogue.self, from: payload, "the catalogue")
        try catalogue.validate()
        let next = CatalogueState(serial: catalogue.serial, digest: PackDigest(of: payload))
        if let state {
            guard next.serial >= state.serial else {
                throw PackError(
                    .rolledBack,
                    "the catalogue has serial number \(next.serial), but \(state.serial) was accepted before: "
                        + "the server, or an attacker on the network, delivers an old one"
                )
            }
            guard next.serial > state.serial || next.digest == state.digest else {
                throw PackError(
                    .rolledBack,
                    "another catalogue with serial number \(next.serial) was accepted before: publish under a new number"
                )
            }
        }
        guard now < catalogue.expires else {
            throw PackError(
                .expired,
                "the catalogue was valid until \(catalogue.expires.formatted(.iso8601)): publish a new one, or correct "
                    + "this machine's clock"
            )
        }
        return (catalogue, next)
    }

    private struct Format: Decodable { let formatVersion: Int }

    private static func decode<Value: Decodable>(_ type: Value.Type, from data: Data, _ name: String) throws -> Value {
        let decoder = JSONDecoder()
        // `.iso8601` is not used, since its error does not say which date is wrong.
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            guard let date = try? Date(text, strategy: .iso8601) else {
                throw DecodingError.dataCorruptedError(
                    in: container,
                    debugDescription: "\(text.quoted()) is not a date and time: write it as 2026-11-21T18:00:00Z"
                )
            }
            return date
        }
        do {
            return try decoder.decode(type, from: data)
        } catch {
            throw PackError(.badAnswer, "\(name) is not in the expected format: \(error.place)", cause: error)
        }
    }
}

/// A version that a share of the clients gets before it becomes live for all.
public struct Rollout: Sendable, Hashable, Codable {
    /// The version.
    public var version: PackVersion
    /// The share of the clients, 0 to 100; two decimal places count.
    public var percentage: Double
    /// A text that decides which clients are chosen; keep it while the percentage grows, so that clients that have the
    /// version keep it.
    public var salt: String

    /// Makes a rollout.
    public init(_ version: PackVersion, percentage: Double, salt: String) {
        self.version = version
        self.percentage = percentage
        self.salt = salt
    }

    /// Whether an installation is among those that get the version.
    ///
    /// The first eight bytes of SHA-256 over `<install id>\n<module>\n<version>\n<salt>`, as a big-endian number modulo
    /// 10,000, are lower than a hundred times the percentage. So the result is always the same, needs no server, and
    /// stays true while the percentage grows.
    public func includes(installID: String, of module: ModuleID) -> Bool {
        let text = "\(installID)\n\(module)\n\(version)\n\(salt)"
        let number = MessageDigest.of(Array(text.utf8)).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Double(number % 10_000) < (percentage * 100).rounded()
    }
}
