public import Foundation
import WaystationStorage

/// A signed static catalogue on any file server; see ``Catalogue``.
///
/// A catalogue is accepted only if a trusted key signed it, if it is not older than the last accepted one, and while it
/// has not expired. It is authoritative: a client gets the version that is live for it, even in place of a higher one.
public struct CatalogueSource: PackSource {
    /// The URL of the catalogue.
    public let url: URL
    /// The trusted keys.
    public let trustedKeys: [TrustedKey]
    /// How many different keys must have signed; 1 by default.
    public var threshold = 1
    /// The largest catalogue that is read, in bytes; 8 MiB by default.
    public var maximumSize = Self.standardMaximumSize

    /// The default of ``maximumSize``, which a publisher must not exceed, in bytes.
    package static let standardMaximumSize = 8 << 20

    private let fetcher: any PackFetching
    private let now: @Sendable () -> Date

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - url: The URL of the catalogue.
    ///   - trustedKeys: The trusted keys; without any, no catalogue is accepted.
    ///   - fetcher: The network.
    ///   - now: The clock, which decides on expiry.
    public init(
        _ url: URL,
        trusting trustedKeys: [TrustedKey],
        fetcher: any PackFetching = URLSessionFetcher.shared,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.url = url
        self.trustedKeys = trustedKeys
        self.fetcher = fetcher
        self.now = now
    }

    /// Fetches the catalogue, and makes the offers for this client.
    ///
    /// Store the answer's ``UpdateAnswer/catalogueState`` before following any offer.
    public func check(_ inquiry: UpdateInquiry) async throws -> UpdateAnswer {
        let response = try await fetcher.collect(FetchRequest(url, maximumBodySize: maximumSize), now: now())
        let (catalogue, state): (Catalogue, CatalogueState)
        do {
            (catalogue, state) = try Catalogue.opening(
                response.body,
                signedBy: trustedKeys,
                threshold: threshold,
                after: inquiry.catalogueState,
                now: now()
            )
        } catch let error as PackError where error.code == .badAnswer {
            throw PackError(
                .badAnswer,
                "the answer of \(response.url.shown) cannot be used as a catalogue: \(error.message)",
                cause: error.cause
            )
        }
        var answer = UpdateAnswer(offers: [], retryAfter: response.retryAfter, catalogueState: state)
        for module in catalogue.modules {
            do {
                let installed = inquiry.modules.first(where: { $0.id == module.module })?.version
                answer.offers.append(
                    try module.offer(to: inquiry.installID, having: installed, from: response.url)
                )
            } catch {
                answer.problems.append(error)
            }
        }
        return answer
    }
}

extension Catalogue.Module {
    /// The version that an installation should have; nil if no version is live.
    public func version(for installID: String) -> PackVersion? {
        guard let rollout, rollout.includes(installID: installID, of: module) else { return live }
        return rollout.version
    }

    /// The offer for an installation.
    ///
    /// The publisher takes a version back by making it neither live nor part of a rollout. If an installation has such
    /// a version and is offered no other one, the module is switched off until another version is offered.
    ///
    /// - Parameters:
    ///   - installID: The installation.
    ///   - installed: The version that it has; nil if it has none.
    ///   - base: The URL of the catalogue.
    /// - Returns: The offer.
    /// - Throws: ``PackError`` if an address in the catalogue is not valid.
    func offer(
        to installID: String,
        having installed: PackVersion?,
        from base: URL
    ) throws(PackError) -> ModuleOffer {
        var offer = ModuleOffer(module, version: version(for: installID))
        let isTakenBack =
            offer.version == nil && installed != rollout?.version && releases.contains { $0.version == installed }
        offer.isActive = isActive && !isTakenBack
        offer.isExact = true
        offer.minimumVersion = minimumVersion
        offer.minimumAppVersion = minimumAppVersion
        offer.network = network ?? .any
        for text in baseURLs ?? [] {
            guard let url = URL.fetchable(text, relativeTo: base) else {
                throw PackError.badAddress(text, in: "a base URL of \(module)")
            }
            offer.baseURLs.append(url)
        }
        guard let release = releases.first(where: { $0.version == offer.version }) else { return offer }
        offer.released = release.released
        offer.manifest = release.manifest
        offer.installedSize = release.installedSize
        offer.archive = try release.archive.artifact(from: base)
        for patch in release.patches ?? [] {
            let artifact = try patch.artifact.artifact(from: base)
            offer.patches.append(
                PatchOffer(patch.kind, from: patch.from, base: patch.base, result: patch.result, artifact: artifact)
            )
        }
        return offer
    }
}

extension Catalogue.File {
    fileprivate func artifact(from base: URL) throws(PackError) -> Artifact {
        guard let location = URL.fetchable(url, relativeTo: base) else {
            throw PackError.badAddress(url, in: "the address of a file")
        }
        return Artifact(url: location, size: size, digest: digest)
    }
}

extension PackSource where Self == CatalogueSource {
    /// A signed static catalogue.
    public static func catalogue(at url: URL, trusting keys: [TrustedKey]) -> CatalogueSource {
        CatalogueSource(url, trusting: keys)
    }
}

/// The state after the last accepted catalogue, which keeps an attacker from going back to an older one.
///
/// Store one state for each catalogue with the installed packs, before acting on anything in the catalogue.
public struct CatalogueState: Sendable, Hashable, Codable {
    /// The serial number of that catalogue.
    public var serial: UInt64
    /// The SHA-256 of its payload.
    public var digest: PackDigest

    /// Makes a state.
    public init(serial: UInt64, digest: PackDigest) {
        self.serial = serial
        self.digest = digest
    }
}
