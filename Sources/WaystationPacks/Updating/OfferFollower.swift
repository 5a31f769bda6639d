import Foundation
import WaystationArchive
import WaystationHTTP
import WaystationStorage

/// Follows one offer: the cheapest way first, and the whole pack if a patch fails.
struct OfferFollower: Sendable {
    let update: Update
    let inquiry: UpdateInquiry
    let offer: ModuleOffer

    private var library: PackLibrary { update.library }
    private var module: ModuleID { offer.module }

    func follow() async -> ModuleOutcome {
        let before = library.module(module)
        let kind: ModuleOutcome.Kind
        do throws(PackError) {
            kind = try await followOrThrow(mayAskAgain: true)
        } catch {
            kind = .failed(error)
        }
        let after = library.module(module)
        return ModuleOutcome(module: module, from: before?.active?.version, to: after?.active?.version, kind: kind)
    }

    private func followOrThrow(mayAskAgain: Bool) async throws(PackError) -> ModuleOutcome.Kind {
        // Of a module that only the server knows, nothing but failures is stored until its first version has arrived.
        // Otherwise a server could fill the disk with the records of modules that it only names.
        let isKnown = library.module(module) != nil || update.configuration.modules.contains(module)
        if isKnown { try await library.take(offer) } else { try library.checkWhitelist(of: offer) }
        var lastFailure: PackError?
        var wasSwitchedOn = false
        // In one check, the updater does not try one way to a version twice, even if the pause after a failure is
        // shorter than the check.
        var failures: [FailedUpdate] = []
        while true {
            var situation = try await situation()
            situation.failures += failures
            let plan = update.configuration.planner.plan(for: offer, in: situation)
            switch plan.step {
            case .nothing(.noUsablePatch) where mayAskAgain:
                // The server offers only a patch for the version that it believes to be installed, so the request is
                // repeated without a version.
                let again = try await update.ask(inquiry.forgettingVersion(of: module))
                guard let whole = again.offers.first(where: { $0.module == module }) else {
                    return .postponed(.nothingOffered)
                }
                // The second answer is a new offer, perhaps of another version.
                return try await OfferFollower(update: update, inquiry: inquiry, offer: whole)
                    .followOrThrow(mayAskAgain: false)
            case .nothing(let reason):
                if let lastFailure { throw lastFailure }
                if wasSwitchedOn, [.upToDate, .newerInstalled, .nothingOffered].contains(reason) { return .enabled }
                return reason == .upToDate ? .upToDate : .postponed(reason)
            case .enable:
                try await library.setEnabledByServer(true, module)
                wasSwitchedOn = true
            case .disable where !isKnown:
                return .postponed(.alreadyDisabled)
            case .disable:
                try await library.setEnabledByServer(false, module)
                return .disabled
            case .activate(let pack):
                let isOnTrial = update.configuration.healthWindow != nil
                do throws(PackError) {
                    try await library.activate(pack, of: module, onTrial: isOnTrial)
                } catch {
                    guard error.isDamage else { throw error }
                    // The version is marked as damaged now, so the next step fetches it again.
                    lastFailure = error
                    continue
                }
                try await library.setEnabledByServer(true, module)
                return .activated
            case .patch(let patch, let base):
                let way: FailedUpdate.Way = patch.kind == .content ? .contentPatch : .zipPatch
                do throws(PackError) {
                    return try await install(patch.artifact, way: way, from: base, patch)
                } catch {
                    let result = offer.announcedResult(of: patch)
                    failures.append(try await note(error, way: way, from: base.version, patch.artifact, result))
                    lastFailure = error
                }
            case .whole(let archive):
                do throws(PackError) {
                    return try await install(archive, way: .whole, from: nil, nil)
                } catch {
                    failures.append(try await note(error, way: .whole, from: nil, archive, offer.manifest))
                    lastFailure = error
                }
            }
        }
    }

    // MARK: - Fetching and installing

    private func install(
        _ artifact: Artifact,
        way: FailedUpdate.Way,
        from base: LocalPack?,
        _ patch: PatchOffer?
    ) async throws(PackError) -> ModuleOutcome.Kind {
        let file = try await download(artifact, way)
        let staged: PackLibrary.StagedPack
        do throws(PackError) {
            staged = try await stage(file, artifact, way: way, from: base, patch)
        } catch {
            // A read error of the installed version must not keep the client on that version.
            guard way != .whole, error.code == .fileSystem else { throw error }
            throw PackError(.damaged, "the patch cannot be applied: the whole pack is fetched", cause: error)
        }
        try check(staged)
        try await refuseBadVersion(staged)
        if Task.isCancelled {
            throw PackError(.cancelled, "the update of \(module) was cancelled; the next check continues it")
        }
        // The first version of a module must not answer URLs outside its whitelist.
        try await library.take(offer)
        _ = try await library.commit(
            staged,
            activating: true,
            onTrial: update.configuration.healthWindow != nil
        )
        // A file that is left behind does no harm, but takes up space.
        try? await update.updater.downloader.discard(artifact)
        return .updated(way, fetched: file.fetched, whole: offer.archive?.size)
    }

    private func stage(
        _ file: DownloadedArtifact,
        _ artifact: Artifact,
        way: FailedUpdate.Way,
        from base: LocalPack?,
        _ patch: PatchOffer?
    ) async throws(PackError) -> PackLibrary.StagedPack {
        let path = file.file.path(percentEncoded: false)
        switch (way, base, patch) {
        case (.contentPatch, _, let patch?):
            tell(.patching)
            return try await library.stage(
                contentPatch: path,
                for: module,
                expecting: offer.announcedResult(of: patch)
            )
        case (.zipPatch, let base?, let patch?):
            tell(.patching)
            return try await library.stage(
                zipPatch: path,
                for: module,
                from: base,
                expecting: offer.announcedResult(of: patch),
                as: update.configuration.describe(offer),
                url: offer.archive?.url,
                limits: update.configuration.zipLimits,
                tellUnpacking
            )
        default:
            let origin = PackLibrary.ArchiveOrigin(
                digests: file.digests,
                url: artifact.url,
                isKept: update.updater.source.offersZipPatches
            )
            return try await library.stage(
                zip: path,
                as: update.configuration.describe(offer),
                origin: origin,
                limits: update.configuration.zipLimits,
                tellUnpacking
            )
        }
    }

    private func download(
        _ artifact: Artifact,
        _ way: FailedUpdate.Way
    ) async throws(PackError) -> DownloadedArtifact {
        do {
            return try await update.updater.downloader.download(
                artifact,
                admitting: { try checkSpace(for: artifact, way, size: $0) },
                progress: { tell(.downloading(completed: $0.completed, expected: $0.expected)) }
            )
        } catch let error as PackError {
            throw error
        } catch {
            throw PackError(.network, "\(artifact.url.shown) could not be downloaded: see the cause", cause: error)
        }
    }

    /// Checks the free space for a file whose size only the server's response shows, so that the plan could not do it.
    private func checkSpace(for artifact: Artifact, _ way: FailedUpdate.Way, size: Int) throws(PackError) {
        let needed = update.configuration.planner.neededSpace(for: offer, by: way, fetching: size)
        guard let free = freeSpace, free < needed else { return }
        throw PackError(
            .noSpace,
            "\(artifact.url.shown) has \(size) bytes and needs \(needed) bytes with its result, but \(free) are free: "
                + "free some space, and try again"
        )
    }

    /// The free space in bytes; nil when it is unknown.
    private var freeSpace: Int? { try? library.environment.fileSystem.freeSpace(at: library.layout.root) }

    /// Compares the pack with the offer, so that a server cannot deliver a different pack than it offered.
    private func check(_ staged: PackLibrary.StagedPack) throws(PackError) {
        let manifest = staged.manifest
        guard manifest.module == module else {
            throw PackError(.damaged, "the pack offered for \(module) is one of \(manifest.module): publish it again")
        }
        guard !manifest.baseURLs.isEmpty else {
            throw PackError(
                .invalidManifest,
                "the URLs at which \(module) \(manifest.version) is served are not known: "
                    + "let the server send a `whitelist` of its folders or files, build the pack with a manifest, "
                    + "or set `describe` of the updater's configuration"
            )
        }
        if let offered = offer.version, manifest.version != offered {
            throw PackError(
                .damaged,
                "the pack offered as \(module) \(offered) has version \(manifest.version) in its manifest: "
                    + "publish it again"
            )
        }
        if let digest = offer.manifest, PackDigest(of: staged.json) != digest {
            throw PackError(.damaged, "the manifest of \(module) \(manifest.version) is not the one that was announced")
        }
        if let minimum = manifest.minimumAppVersion, update.updater.app.version < minimum {
            throw PackError(
                .unsupportedVersion,
                "\(module) \(manifest.version) needs version \(minimum) of the app, which is \(update.updater.app.version)"
            )
        }
    }

    /// Refuses a version that was found bad.
    ///
    /// If an offer does not name its version, that is known only after the download.
    private func refuseBadVersion(_ staged: PackLibrary.StagedPack) async throws(PackError) {
        let (version, manifest) = (staged.manifest.version, PackDigest(of: staged.json))
        let failures = try await situation().failures
        guard let bad = failures.first(where: { $0.retryAt > update.now && $0.isOfVersion(version, manifest) }) else {
            return
        }
        throw PackError(
            .damaged,
            "the pack offered for \(module) is version \(version), which was found bad: it may be installed again from "
                + "\(bad.retryAt.formatted(.iso8601)) on"
        )
    }

    // MARK: - Recording failures

    /// Records an update that failed, unless the same way may work at the next check.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - way: The way that failed.
    ///   - base: The version that a patch was applied to.
    ///   - artifact: The file that was fetched.
    ///   - result: The announced digest of the result.
    /// - Returns: The failure, which is not tried again in this check.
    /// - Throws: The error, when it makes no sense to try another way now.
    private func note(
        _ error: PackError,
        way: FailedUpdate.Way,
        from base: PackVersion?,
        _ artifact: Artifact,
        _ result: PackDigest?
    ) async throws(PackError) -> FailedUpdate {
        // Errors of the network and the disk do not mean that the patch is bad; downloaded bytes are kept for the next
        // check.
        let isPatch = way != .whole
        switch error.code {
        case .cancelled, .network, .interrupted, .noSpace, .fileSystem, .notDurable: throw error
        // When the server asked to wait, no other file is requested.
        case _ where error.retryAfter != nil: throw error
        case .refused where !isPatch: throw error
        default: break
        }
        let failure = FailedUpdate(
            from: base,
            to: offer.version,
            way: way,
            artifact: artifact.url,
            digest: artifact.digest,
            result: result,
            retryAt: .distantFuture
        )
        try await library.note(failure, of: module, pausing: update.configuration.retryPause, at: update.now)
        // A whole file with the right digest was published with this content, so fetching it again would give the same
        // bytes. A file with a wrong digest has been deleted already.
        if isPatch || artifact.digest == nil { try? await update.updater.downloader.discard(artifact) }
        return failure
    }

    // MARK: - The module's state

    private func situation() async throws(PackError) -> UpdateSituation {
        let library = library
        let module = module
        var situation = UpdateSituation(appVersion: update.updater.app.version, now: update.now)
        let record = try await library.blocking("reading the record of \(module)") {
            try library.readRecord(of: module)
        }
        situation.active = record.version(inFolder: record.active).flatMap {
            $0.isDamaged == true ? nil : LocalPack($0)
        }
        situation.others = record.versions.reversed().filter { $0.folder != record.active && $0.isDamaged != true }
            .map { LocalPack($0) }
        situation.isActive = record.isEnabled
        // A longer pause than the configuration allows was recorded while the clock was ahead, so it is ignored. The
        // pause of a version that was found bad is set by the app, and has no such limit.
        let end = situation.now.addingTimeInterval(update.configuration.retryPause.longest.inSeconds)
        situation.failures = record.failures.filter { $0.way == .version || $0.retryAt <= end }
        situation.network =
            offer.network == .any
            ? .fulfilled : await update.configuration.networkProbe.result(of: offer.network)
        situation.freeSpace = freeSpace
        return situation
    }

    // MARK: - Reporting progress

    private func tell(_ phase: UpdateProgress.Phase) {
        update.progress(UpdateProgress(module: module, phase: phase))
    }

    private var tellUnpacking: @Sendable (ExtractionProgress) -> Void {
        { progress in
            tell(
                .unpacking(
                    entries: progress.entriesDone,
                    of: progress.entriesTotal,
                    bytes: progress.bytesDone,
                    ofBytes: progress.bytesTotal
                )
            )
        }
    }
}

extension PackDescription {
    /// Describes an offered pack by its offer; nil when the offer has no version and none can be derived.
    init?(of offer: ModuleOffer) {
        let digest = offer.archive?.digest ?? offer.patches.lazy.compactMap(\.result).first
        guard
            let version = offer.version ?? offer.archive.flatMap({ Self.version(inNameOf: $0.url) })
                ?? digest.flatMap(Self.version(of:))
        else { return nil }
        self.init(
            module: offer.module,
            version: version,
            baseURLs: offer.baseURLs.map(\.absoluteString),
            released: offer.released
        )
        whitelist = offer.whitelist ?? []
    }

    /// A version for a pack whose version is unknown: below every other one, and the same for the same bytes.
    private static func version(of digest: PackDigest) -> PackVersion? { PackVersion("0-\(digest.hex.prefix(12))") }

    /// The last part of a file name that is a version: `1.4.2` in `shop-1.4.2.zip`.
    ///
    /// Only the last 255 bytes of the name are searched, since a server may send a name of any length.
    private static func version(inNameOf url: URL) -> PackVersion? {
        let name = url.deletingPathExtension().lastPathComponent.utf8
        for start in name.indices.suffix(255).reversed() {
            let isStart = start == name.startIndex || !isDigitOrDot(name[name.index(before: start)])
            guard isStart, isDigitOrDot(name[start]), name[start] != UInt8(ascii: ".") else { continue }
            let text = String(decoding: name[start...], as: UTF8.self)
            let number = String(decoding: name[start...].prefix(while: isDigitOrDot), as: UTF8.self)
            if let version = PackVersion(text) ?? PackVersion(number) { return version }
        }
        return nil
    }

    private static func isDigitOrDot(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
