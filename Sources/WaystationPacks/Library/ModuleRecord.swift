import Foundation
import WaystationHTTP

/// The record of a module: the file `module.json` in its folder, which alone decides which versions exist.
///
/// The file is replaced as a whole by a rename. When the library opens, it deletes its own files and folders
/// beside it that this file does not name.
///
/// ```json
/// {"active":"1.4.2-5f0c9d8e","formatVersion":1,"isEnabled":true,"previous":"1.4.1-77ab01c2",
///  "versions":[{"folder":"1.4.2-5f0c9d8e","installed":"2026-03-01T12:00:00Z","manifestSHA256":"…","version":"1.4.2"},…]}
/// ```
struct ModuleRecord: Codable, Equatable, Sendable {
    static let fileName = "module.json"
    static let maximumSize = 4 << 20
    /// The largest whitelist that is stored, in bytes of JSON; the rest of the record must have space for later changes.
    static let maximumWhitelistSize = maximumSize / 2
    static let formatVersion = 1

    /// The part that is read first, since a later format may differ in everything else.
    struct Format: Decodable { let formatVersion: Int }

    struct Version: Codable, Equatable, Sendable {
        /// The name of its folder: the version and eight random digits, so that a version can be installed again beside
        /// a damaged copy of itself.
        var folder: String
        var version: PackVersion
        var manifestSHA256: String
        /// The digests of the zip that the version was installed from.
        var archiveDigests: [PackDigest]?
        /// The URL of that zip.
        var archiveURL: URL?
        /// Whether that zip was kept for zip patches.
        var isArchiveKept: Bool?
        var installed: Date
        /// The lowest version that may still be used, according to this version's manifest.
        var minimumPackVersion: PackVersion?
        /// Whether the app has confirmed the version, or did not need to.
        var wasConfirmed: Bool?
        /// The start of the trial; nil when the app need not confirm the version.
        var trialSince: Date?
        /// How often the app has started during the trial without confirming the version; the first start is counted.
        var trialStarts: Int?
        /// The reason why the version is bad; nil when it is not.
        var badReason: String?
        var badSince: Date?
        var isDamaged: Bool?

        var health: PackHealth {
            if let badReason, let badSince { return .bad(reason: badReason, since: badSince) }
            return trialSince.map { .trial(since: $0) } ?? .confirmed
        }
    }

    var formatVersion = Self.formatVersion
    /// The server's switch; in records of earlier releases it is the only one.
    var isEnabled = true
    /// True while the app's switch is off; nil while it is on.
    var isSwitchedOffByApp: Bool?
    var minimumVersion: PackVersion?
    /// The folder of the version that answers requests.
    var active: String?
    /// The folder of the version that a roll-back activates.
    var previous: String?
    var versions: [Version] = []
    /// The URLs that the server lets the packs answer; nil lets them answer all URLs that they have files for.
    var whitelist: [String]?
    /// Updates that failed, so that they are not tried again at once.
    var failures: [FailedUpdate] = []

    static let failureLimit = 64

    /// The lowest version that may still be used, according to the server and the active version.
    var lowestUsable: PackVersion? {
        [minimumVersion, version(inFolder: active)?.minimumPackVersion].compactMap(\.self).max()
    }

    /// The record as it will be read again: without details that its JSON does not hold, such as fractions of a second.
    func asWritten() throws -> ModuleRecord { try Self.decoder.decode(Self.self, from: Self.encoder.encode(self)) }

    func version(inFolder folder: String?) -> Version? {
        folder.flatMap { folder in versions.first { $0.folder == folder } }
    }

    /// The best of the fitting copies: an undamaged one before a damaged one, then the one installed last.
    ///
    /// A version may have several copies: it was installed again beside a damaged copy, or another pack was published
    /// under its number.
    func copy(where fits: (Version) -> Bool) -> Version? {
        versions.last { fits($0) && $0.isDamaged != true } ?? versions.last(where: fits)
    }

    mutating func change(_ folder: String, _ body: (inout Version) -> Void) {
        guard let index = versions.firstIndex(where: { $0.folder == folder }) else { return }
        body(&versions[index])
    }

    /// The app's switch.
    var isEnabledByApp: Bool {
        get { isSwitchedOffByApp != true }
        set { isSwitchedOffByApp = newValue ? nil : true }
    }

    /// Whether both switches are on.
    var isSwitchedOn: Bool { isEnabled && isEnabledByApp }

    /// Whether the active version answers requests.
    var isServing: Bool {
        guard let active = version(inFolder: active), isSwitchedOn else { return false }
        return lowestUsable.map { active.version >= $0 } ?? true
    }

    /// Makes a version the active one; the old one becomes the roll-back version, unless it is higher.
    mutating func activate(_ folder: String) {
        guard active != folder else { return }
        // A bad or damaged version is not one to roll back to.
        if let current = version(inFolder: active), current.badSince == nil, current.isDamaged != true {
            previous = current.folder
        }
        active = folder
        if !allowsRollBack(to: previous) { previous = nil }
    }

    /// Whether a version comes before the active one; a roll-back never leads to a higher version, which a server may
    /// have withdrawn.
    ///
    /// Of two packs with the same version number, the one installed first comes first.
    private func allowsRollBack(to folder: String?) -> Bool {
        guard let target = versions.firstIndex(where: { $0.folder == folder }),
            let current = versions.firstIndex(where: { $0.folder == active })
        else { return false }
        return (versions[target].version, target) < (versions[current].version, current)
    }

    /// Clears the bad state of a version that becomes active, and starts its trial if the app must confirm it.
    mutating func begin(_ folder: String, onTrial isOnTrial: Bool, at now: Date) {
        change(folder) { version in
            version.badReason = nil
            version.badSince = nil
            // A version that was confirmed once needs no second trial.
            version.trialSince = isOnTrial && version.wasConfirmed != true ? now : nil
            version.trialStarts = version.trialSince.map { _ in 1 }
        }
    }

    /// Activates the previous version, or none.
    mutating func rollBack() {
        active = allowsRollBack(to: previous) ? previous : nil
        previous = nil
    }

    /// Rolls back from a version that does not work, and blocks it for a while.
    mutating func giveUp(_ bad: Version, reason: String, retryAt: Date, at now: Date) {
        rollBack()
        change(bad.folder) { version in
            version.badReason = reason
            version.badSince = now
            version.trialSince = nil
            version.trialStarts = nil
        }
        let digest = PackDigest("sha256-\(bad.manifestSHA256)")
        note(FailedUpdate(to: bad.version, way: .version, digest: digest, retryAt: retryAt), at: now)
    }

    /// Records an update that failed, in place of the earlier record of the same way.
    ///
    /// - Parameters:
    ///   - failure: The update that failed; this method sets its ``FailedUpdate/attempts`` and
    ///     ``FailedUpdate/retryAt``.
    ///   - pause: The pauses before the next attempt, by the number of consecutive failures.
    ///   - now: The present.
    mutating func note(_ failure: FailedUpdate, pausing pause: RetryPause, at now: Date) {
        forgetFailures(before: now)
        var failure = failure
        failure.artifact = failure.artifact?.ifRecordable
        failure.attempts = 1 + (failures.first { $0.isOfSameWay(as: failure) }?.attempts ?? 0)
        failure.retryAt = now.addingTimeInterval(pause.duration(after: failure.attempts).inSeconds)
        note(failure, at: now)
    }

    /// Records an update that failed, with its own time of retry, in place of the earlier record of the same way.
    mutating func note(_ failure: FailedUpdate, at now: Date) {
        forgetFailures(before: now)
        failures.removeAll { $0.isOfSameWay(as: failure) }
        failures = failures.suffix(Self.failureLimit - 1) + [failure]
    }

    /// Drops failures whose pause has been over for a day; until then, the next pause depends on their count.
    private mutating func forgetFailures(before now: Date) {
        failures.removeAll { $0.retryAt <= now.addingTimeInterval(-86_400) }
    }

    /// Takes out the versions that are neither active nor the previous one.
    ///
    /// - Returns: Their folders.
    mutating func dropUnused() -> [String] {
        let unused = versions.filter { $0.folder != active && $0.folder != previous }.map(\.folder)
        versions.removeAll { unused.contains($0.folder) }
        return unused
    }
}

extension URL {
    /// The URL, or nil if it has more than 4 KiB: a few longer ones would leave no space for others in a record.
    var ifRecordable: URL? { absoluteString.utf8.count <= 4096 ? self : nil }
}

extension LocalPack {
    init(_ version: ModuleRecord.Version) {
        self.init(
            version.version,
            manifest: PackDigest("sha256-\(version.manifestSHA256)"),
            archiveDigests: version.archiveDigests ?? [],
            isArchiveKept: version.isArchiveKept ?? false,
            archiveURL: version.archiveURL
        )
    }

    /// Whether an installed copy is this pack; two packs may have the same version number, so the manifest is compared
    /// too.
    func isCopied(by copy: ModuleRecord.Version) -> Bool {
        version == copy.version && (manifest.map { $0.hex == copy.manifestSHA256 } ?? true)
    }
}
