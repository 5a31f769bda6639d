import Foundation

/// Finds the cheapest way from the installed version to the offered one.
///
/// A pure function of its arguments. It considers, in this order: changing nothing, switching the module off or on,
/// using a version that is installed already, and the download with the fewest bytes. The download is the whole pack,
/// or a patch whose base is installed. A patch of unknown size counts as the smallest, since servers offer patches to
/// save bytes; among equals, a content patch comes before a zip patch, and both before the whole pack. After a patch
/// fails, plan again with the failure added; in the end the whole pack is left.
public struct UpdatePlanner: Sendable {
    /// Whether to download when the probe cannot find out if the network fulfils the offer's condition; false by
    /// default.
    ///
    /// A wrong guess causes traffic that the publisher wanted to spare the user, while waiting costs nothing: the
    /// version in use serves, or the pages load online. Offers without a condition are not affected.
    public var allowsUnknownNetwork = false
    /// How many bytes must stay free on the disk; 64 MiB by default.
    public var reservedSpace = 64 << 20

    /// Makes a planner with the defaults.
    public init() {}

    /// Returns the next step for an offer.
    public func plan(for offer: ModuleOffer, in situation: UpdateSituation) -> UpdatePlan {
        let minimum = offer.minimumVersion
        let isTooLow = if let minimum, let active = situation.active { active.version < minimum } else { false }
        func plan(_ step: UpdatePlan.Step, size: Int? = 0) -> UpdatePlan {
            UpdatePlan(step, mustNotServe: isTooLow, downloadSize: size)
        }

        guard offer.isActive else { return plan(situation.isActive ? .disable : .nothing(.alreadyDisabled)) }
        guard situation.isActive else {
            // The installed version should answer first: the next step may fail, or take long.
            var switchedOn = situation
            switchedOn.isActive = true
            let next = self.plan(for: offer, in: switchedOn)
            // If another version only needs to be activated, the one in use must not answer before that.
            if case .activate = next.step { return next }
            return plan(.enable)
        }
        switch Target(offer, situation) {
        case .inUse: return plan(.nothing(.upToDate))
        case .lower: return plan(.nothing(.newerInstalled))
        case .none: return plan(.nothing(.nothingOffered))
        case .wanted: break
        }
        if let minimum = offer.minimumAppVersion, situation.appVersion < minimum {
            return plan(.nothing(.appTooOld(minimum: minimum)))
        }
        let failures = situation.failures.filter { $0.retryAt > situation.now }
        if let bad = failures.first(where: { $0.isOfVersion(of: offer) }) {
            return plan(.nothing(.failedBefore(retryAt: bad.retryAt)))
        }
        if let kept = situation.others.first(where: { $0.is(offer) }) {
            let bad = failures.first { $0.isOfVersion(of: kept) }
            return plan(bad.map { .nothing(.failedBefore(retryAt: $0.retryAt)) } ?? .activate(kept))
        }
        return download(offer, situation, failures, plan)
    }

    private func download(
        _ offer: ModuleOffer,
        _ situation: UpdateSituation,
        _ failures: [FailedUpdate],
        _ plan: (UpdatePlan.Step, Int?) -> UpdatePlan
    ) -> UpdatePlan {
        let ways = Way.all(in: offer, from: situation)
        let untried = ways.filter { way in !failures.contains { way.failed(as: $0, offer) } }
        guard !untried.isEmpty || offer.archive != nil else { return plan(.nothing(.noUsablePatch), 0) }
        guard !untried.isEmpty else {
            let retryAt = failures.filter { failure in ways.contains { $0.failed(as: failure, offer) } }
                .map(\.retryAt).min()
            return plan(.nothing(.failedBefore(retryAt: retryAt ?? situation.now)), 0)
        }
        switch situation.network {
        case _ where offer.network == .any: break
        case .fulfilled: break
        case .unknown where allowsUnknownNetwork: break
        case .unfulfilled, .unknown: return plan(.nothing(.network(offer.network)), 0)
        }
        let sorted = untried.sorted { $0.isCheaper(than: $1) }
        guard let free = situation.freeSpace else { return plan(sorted[0].step, sorted[0].artifact.size) }
        // The smallest download does not always need the least space.
        if let fitting = sorted.first(where: {
            neededSpace(for: offer, by: $0.kind, fetching: $0.artifact.size) <= free
        }) {
            return plan(fitting.step, fitting.artifact.size)
        }
        let needed = sorted.map { neededSpace(for: offer, by: $0.kind, fetching: $0.artifact.size) }.min() ?? 0
        return plan(.nothing(.noSpace(needed: needed, available: free)), 0)
    }
}

extension UpdatePlanner {
    /// The disk space that a way needs: for the download, for the new zip that a zip patch makes, for the installed
    /// files, and for the reserve; unknown sizes count as 0.
    func neededSpace(for offer: ModuleOffer, by way: FailedUpdate.Way, fetching size: Int?) -> Int {
        let whole = way == .whole ? size ?? offer.archive?.size : offer.archive?.size
        let zip = way == .zipPatch ? whole : 0
        return [size, zip, offer.installedSize ?? whole, reservedSpace].reduce(0) { sum, size in
            let (total, overflow) = sum.addingReportingOverflow(max(0, size ?? 0))
            return overflow ? .max : total
        }
    }
}

/// The offer compared with the version in use.
private enum Target {
    /// The offer is the version in use.
    case inUse
    /// The offer is a lower version, and the server does not order it.
    case lower
    /// The offer has nothing to install.
    case none
    /// The offer is another version, which is to be installed.
    case wanted

    init(_ offer: ModuleOffer, _ situation: UpdateSituation) {
        guard offer.version != nil || offer.archive != nil || !offer.patches.isEmpty else {
            self = .none
            return
        }
        guard let active = situation.active else {
            self = .wanted
            return
        }
        if active.is(offer) {
            self = .inUse
        } else if let version = offer.version, version < active.version, !offer.isExact {
            self = .lower
        } else {
            self = .wanted
        }
    }
}

extension LocalPack {
    /// Whether this is the offered version.
    ///
    /// If the offer names no version, the zip's digest decides; if it has no digest either, the zip's URL does.
    /// Otherwise the same offer would be installed again at every check.
    fileprivate func `is`(_ offer: ModuleOffer) -> Bool {
        if let version = offer.version {
            // A pack that was published again under the same version number is a different one.
            if version == self.version, let offered = offer.manifest, let manifest { return offered == manifest }
            return version == self.version
        }
        let digests = [offer.archive?.digest].compactMap(\.self) + offer.patches.compactMap(\.result)
        if !digests.isEmpty { return digests.contains(where: archiveDigests.contains) }
        return offer.archive.map { $0.url == archiveURL } ?? false
    }
}

extension FailedUpdate {
    fileprivate func isOfVersion(of offer: ModuleOffer) -> Bool {
        offer.version.map { isOfVersion($0, offer.manifest) } ?? false
    }

    fileprivate func isOfVersion(of pack: LocalPack) -> Bool { isOfVersion(pack.version, pack.manifest) }

    /// Whether a version was found bad.
    func isOfVersion(_ version: PackVersion, _ manifest: PackDigest?) -> Bool {
        way == .version && to == version && concerns(manifest)
    }

    /// Whether a manifest with this digest is, or may be, the one that was found bad; true when a digest is missing.
    private func concerns(_ manifest: PackDigest?) -> Bool {
        guard let digest, let manifest else { return true }
        return digest == manifest
    }
}

/// One way to the offered version.
private struct Way {
    let step: UpdatePlan.Step
    let artifact: Artifact
    let kind: FailedUpdate.Way
    let from: PackVersion?
    /// The announced digest of the result; nil when none is announced.
    let result: PackDigest?

    static func all(in offer: ModuleOffer, from situation: UpdateSituation) -> [Way] {
        var ways: [Way] = []
        let locals = [situation.active].compactMap(\.self) + situation.others
        for patch in offer.patches {
            guard let base = locals.first(where: { $0.isBase(of: patch, among: situation) }) else { continue }
            let kind: FailedUpdate.Way = patch.kind == .content ? .contentPatch : .zipPatch
            let step = UpdatePlan.Step.patch(patch, base: base)
            let result = offer.announcedResult(of: patch)
            ways.append(Way(step: step, artifact: patch.artifact, kind: kind, from: base.version, result: result))
        }
        if let archive = offer.archive {
            ways.append(
                Way(step: .whole(archive), artifact: archive, kind: .whole, from: nil, result: offer.manifest)
            )
        }
        return ways
    }

    func failed(as failure: FailedUpdate, _ offer: ModuleOffer) -> Bool {
        guard failure.way == kind, failure.from == from, failure.to == offer.version,
            failure.digest == artifact.digest, failure.result == result
        else { return false }
        // Without a version, a failure counts only for its own URL; with one, a failure without a URL counts too.
        return failure.artifact.map { $0.isSameFile(as: artifact.url) } ?? (offer.version != nil)
    }

    func isCheaper(than other: Way) -> Bool { cost < other.cost }

    private var cost: (size: Int, rank: Int) {
        switch kind {
        case .contentPatch: (artifact.size ?? 0, 0)
        case .zipPatch: (artifact.size ?? 0, 1)
        case .whole, .version: (artifact.size ?? .max, 2)
        }
    }
}

extension LocalPack {
    /// Whether a patch can be applied to this version.
    ///
    /// A zip patch without a digest of its base may be tried, since the new zip is checked before it is installed.
    fileprivate func isBase(of patch: PatchOffer, among situation: UpdateSituation) -> Bool {
        if let from = patch.from, from != version { return false }
        // A patch that names neither version nor base is for the version that the client reported to the server.
        if patch.from == nil, patch.base == nil, version != situation.active?.version { return false }
        switch patch.kind {
        case .content: return patch.base != nil && patch.base == manifest
        case .zip:
            guard isArchiveKept else { return false }
            return patch.base.map(archiveDigests.contains) ?? true
        }
    }
}

extension ModuleOffer {
    /// The announced digest of a patch's result; nil when none is announced.
    func announcedResult(of patch: PatchOffer) -> PackDigest? {
        patch.result ?? (patch.kind == .content ? manifest : archive?.digest)
    }
}
