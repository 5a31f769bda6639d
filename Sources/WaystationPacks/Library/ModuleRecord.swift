import Foundation

/// What is recorded of a module: the file `module.json` in its folder, the only truth about which versions there are.
///
/// It is replaced as a whole by a rename. What the folder holds beside and this file does not name is removed when the
/// library opens.
///
/// ```json
/// {"active":"1.4.2-5f0c9d8e","formatVersion":1,"isEnabled":true,"previous":"1.4.1-77ab01c2",
///  "versions":[{"folder":"1.4.2-5f0c9d8e","installed":"2026-03-01T12:00:00Z","manifestSHA256":"…","version":"1.4.2"},…]}
/// ```
struct ModuleRecord: Codable, Equatable, Sendable {
    static let fileName = "module.json"
    static let maximumSize = 4 << 20
    static let formatVersion = 1

    /// What is read first, since a later format may have everything else another way.
    struct Format: Decodable { let formatVersion: Int }

    struct Version: Codable, Equatable, Sendable {
        /// The name of its folder: the version and eight random digits, so that a version can be installed anew beside
        /// a damaged copy of itself.
        var folder: String
        var version: PackVersion
        var manifestSHA256: String
        /// The digests of the zip that it was installed from.
        var archiveDigests: [PackDigest]?
        /// Where that zip came from.
        var archiveURL: URL?
        /// Whether that zip was kept, for zip patches.
        var isArchiveKept: Bool?
        var installed: Date
        /// The lowest version that may still be used, by the manifest of this one.
        var minimumPackVersion: PackVersion?
        /// Whether the app has confirmed it, or never had to.
        var wasConfirmed: Bool?
        /// Set while the app has yet to confirm it.
        var trialSince: Date?
        /// How often the app has started since, the first time counted, and not confirmed it.
        var trialStarts: Int?
        /// Set when it was found bad.
        var badReason: String?
        var badSince: Date?
        var isDamaged: Bool?

        var health: PackHealth {
            if let badReason, let badSince { return .bad(reason: badReason, since: badSince) }
            return trialSince.map { .trial(since: $0) } ?? .confirmed
        }
    }

    var formatVersion = Self.formatVersion
    /// The server's switch, and in records of earlier releases the only one.
    var isEnabled = true
    /// Set while the app's switch is off.
    var isSwitchedOffByApp: Bool?
    var minimumVersion: PackVersion?
    /// The folder of the version that answers.
    var active: String?
    /// The folder of the version to which a roll-back leads.
    var previous: String?
    var versions: [Version] = []
    /// The URLs that the server lets the packs answer; nil is all that they have.
    var whitelist: [String]?
    /// What failed before, so that it is not tried again at once.
    var failures: [FailedUpdate] = []

    static let failureLimit = 64

    /// The lowest version that may still be used, by the server and by the version that answers.
    var lowestUsable: PackVersion? {
        [minimumVersion, version(inFolder: active)?.minimumPackVersion].compactMap(\.self).max()
    }

    /// The record as it is read again: without what its text does not hold, such as parts of a second.
    func asWritten() throws -> ModuleRecord { try Self.decoder.decode(Self.self, from: Self.encoder.encode(self)) }

    func version(inFolder folder: String?) -> Version? {
        folder.flatMap { folder in versions.first { $0.folder == folder } }
    }

    /// The copy to use of those that fit: a sound one before a damaged one, and of several the one installed last.
    ///
    /// There may be several of one version: it was installed anew beside a damaged copy, or published anew under its
    /// number.
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

    /// Makes a version the active one; the one before becomes the one to roll back to, unless it is the higher one.
    mutating func activate(_ folder: String) {
        guard active != folder else { return }
        // A version that did badly is nothing to go back to.
        if let current = version(inFolder: active), current.badSince == nil, current.isDamaged != true {
            previous = current.folder
        }
        active = folder
        if !allowsRollBack(to: previous) { previous = nil }
    }

    /// Whether a version comes before the active one: a roll-back never leads up, to what a server has withdrawn.
    ///
    /// Of two packs under one number the one installed first comes before the other.
    private func allowsRollBack(to folder: String?) -> Bool {
        guard let target = versions.firstIndex(where: { $0.folder == folder }),
            let current = versions.firstIndex(where: { $0.folder == active })
        else { return false }
        return (versions[target].version, target) < (versions[current].version, current)
    }

    /// Forgets what was bad about a version that answers from now on, and has the app confirm it if that is asked for.
    mutating func begin(_ folder: String, onTrial isOnTrial: Bool, at now: Date) {
        change(folder) { version in
            version.badReason = nil
            version.badSince = nil
            // What worked once need not show it again.
            version.trialSince = isOnTrial && version.wasConfirmed != true ? now : nil
            version.trialStarts = version.trialSince.map { _ in 1 }
        }
    }

    /// Goes back to the previous version, or to none.
    mutating func rollBack() {
        active = allowsRollBack(to: previous) ? previous : nil
        previous = nil
    }

    /// Goes back from a version that does not work, and leaves it alone for a while.
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

    /// Notes a way that did not work, in place of what was noted of it before.
    ///
    /// - Parameters:
    ///   - failure: The way; its ``FailedUpdate/attempts`` and ``FailedUpdate/retryAt`` are set here.
    ///   - pause: How long the way is left alone, by the number of attempts that failed one after another.
    ///   - now: The present.
    mutating func note(_ failure: FailedUpdate, pausing pause: RetryPause, at now: Date) {
        forgetFailures(before: now)
        var failure = failure
        failure.attempts = 1 + (failures.first { $0.isOfSameWay(as: failure) }?.attempts ?? 0)
        failure.retryAt = now.addingTimeInterval(pause.duration(after: failure.attempts).inSeconds)
        note(failure, at: now)
    }

    /// Notes a way that did not work until its own time, in place of what was noted of it before.
    mutating func note(_ failure: FailedUpdate, at now: Date) {
        forgetFailures(before: now)
        failures.removeAll { $0.isOfSameWay(as: failure) }
        failures = failures.suffix(Self.failureLimit - 1) + [failure]
    }

    /// Drops failures whose pause has been over for a day; until then the next pause depends on how many there were.
    private mutating func forgetFailures(before now: Date) {
        failures.removeAll { $0.retryAt <= now.addingTimeInterval(-86_400) }
    }

    /// Takes versions out that are neither active nor the one before.
    ///
    /// Returns their folders.
    mutating func dropUnused() -> [String] {
        let unused = versions.filter { $0.folder != active && $0.folder != previous }.map(\.folder)
        versions.removeAll { unused.contains($0.folder) }
        return unused
    }
}
