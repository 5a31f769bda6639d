import Foundation

/// Finds the cheapest way from what is installed to what is offered.
///
/// A pure function of its arguments. Tried in this order: leave, switch off or on, use a version that is installed
/// already, then of the patches whose base is really there and of the whole pack the one with the fewest bytes. A patch of unknown
/// size counts as cheap, since a server offers it for that; among equals a content patch comes before a zip patch, and
/// that before the whole pack. After a patch fails, plan again with the failure added: the whole pack is what is left.
public struct UpdatePlanner: Sendable {
    /// Whether to download where the probe cannot find out if the network fulfils the offer's condition; false by default.
    ///
    /// Traffic that the publisher wanted to spare the user cannot be taken back, while an update that waits costs nothing:
    /// the version in use serves, or the pages load online. Offers without a condition are not concerned.
    public var allowsUnknownNetwork = false
    /// How many bytes must stay free on the disk; 64 MiB by default.
    public var reservedSpace = 64 << 20

    /// A planner with the defaults.
    public init() {}

    /// What to do about an offer.
    public func plan(for offer: ModuleOffer, in situation: UpdateSituation) -> UpdatePlan {
        let minimum = offer.minimumVersion
        let isTooLow = if let minimum, let active = situation.active { active.version < minimum } else { false }
        func plan(_ step: UpdatePlan.Step, size: Int? = 0) -> UpdatePlan {
            UpdatePlan(step, mustNotServe: isTooLow, downloadSize: size)
        }

        guard offer.isActive else { return plan(situation.isActive ? .disable : .nothing(.alreadyDisabled)) }
        guard situation.isActive else {
            // What is installed answers first: whatever comes next may fail, or take long.
            var switchedOn = situation
            switchedOn.isActive = true
            let next = self.plan(for: offer, in: switchedOn)
            // Where another version only needs to be activated, the one in use must not answer before.
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
        // The cheapest to fetch is not always the one that needs the least room.
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
    /// How much room a way needs: what is fetched, the new zip where a patch makes one, the files that come out, and what
    /// must stay free; unknown sizes count nothing.
    func neededSpace(for offer: ModuleOffer, by way: FailedUpdate.Way, fetching size: Int?) -> Int {
        let whole = way == .whole ? size ?? offer.archive?.size : offer.archive?.size
        let zip = way == .zipPatch ? whole : 0
        return [size, zip, offer.installedSize ?? whole, reservedSpace].reduce(0) { sum, size in
            let (total, overflow) = sum.addingReportingOverflow(max(0, size ?? 0))
            return overflow ? .max : total
        }
    }
}

/// What an offer means for the version in use.
private enum Target {
    /// It is that version.
    case inUse
    /// It is a lower one, and not ordered.
    case lower
    /// There is nothing to install.
    case none
    /// It is another one, and is to be installed.
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
    /// Whether this is the version that is offered.
    ///
    /// Without a version the zip's digest decides, and without that its address: else a server that always answers would
    /// be followed for ever.
    fileprivate func `is`(_ offer: ModuleOffer) -> Bool {
        if let version = offer.version {
            // A version that was published anew under its own number is another one.
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
        way == .version && to != nil && to == offer.version && concerns(offer.manifest)
    }

    fileprivate func isOfVersion(of pack: LocalPack) -> Bool {
        way == .version && to == pack.version && concerns(pack.manifest)
    }

    /// Whether a manifest with this digest is, or may be, the one that was found bad.
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
    /// The digest of what comes out, where it is announced.
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
        // With no version named, another address is another thing; with one, a failure that names no address counts too.
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
    /// Whether a patch can be applied to this version: what cannot be checked here may only be tried where its result is.
    fileprivate func isBase(of patch: PatchOffer, among situation: UpdateSituation) -> Bool {
        if let from = patch.from, from != version { return false }
        // Without a version the server means the one that it was told.
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
    /// The digest that is announced for what a patch makes; nil where none is.
    func announcedResult(of patch: PatchOffer) -> PackDigest? {
        patch.result ?? (patch.kind == .content ? manifest : archive?.digest)
    }
}
