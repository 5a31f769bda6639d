import Foundation
import Synchronization
import WaystationHTTP
public import WaystationPacks

extension ReleaseDirectory {
    /// Takes back the last release of a module, or makes a given earlier version live.
    ///
    /// Without a version, a current rollout ends and the live version stays; if there is no rollout, the previous live
    /// version becomes live again. Clients follow at their next poll, even those that have a higher version.
    ///
    /// - Parameters:
    ///   - module: The module.
    ///   - version: A published version lower than the live one; nil, the default, takes back the last step.
    ///   - keys: The keys that sign the catalogue.
    /// - Returns: The new index.
    /// - Throws: ``WaystationPacks/PackError``: `notInstalled` when the module or the version was never published,
    ///   `invalidArgument` when there is no version to go back to, or only one below the minimum version, `busy` when
    ///   the last step is not the same any more, since another publisher has made a further one meanwhile.
    @discardableResult
    public func rollBack(
        _ module: ModuleID,
        to version: PackVersion? = nil,
        signedBy keys: [SigningKey]
    ) async throws(PackError) -> ReleaseIndex {
        let rollback = Mutex(Rollback(module: module, version: version))
        return try await change(signedBy: keys) { index in
            try rollback.withLock { try $0.apply(to: &index) }
        }
    }

    /// Switches a module off, so that its pages load online; its releases are kept.
    ///
    /// - Parameters:
    ///   - module: The module.
    ///   - keys: The keys that sign the catalogue.
    /// - Returns: The new index.
    /// - Throws: ``WaystationPacks/PackError`` with `notInstalled` when nothing was published for the module.
    @discardableResult
    public func disable(_ module: ModuleID, signedBy keys: [SigningKey]) async throws(PackError) -> ReleaseIndex {
        try await change(signedBy: keys) { try $0.setEnabled(false, module) }
    }

    /// Switches a module on again.
    ///
    /// - Parameters:
    ///   - module: The module.
    ///   - keys: The keys that sign the catalogue.
    /// - Returns: The new index.
    /// - Throws: ``WaystationPacks/PackError`` with `notInstalled` when nothing was published for the module.
    @discardableResult
    public func enable(_ module: ModuleID, signedBy keys: [SigningKey]) async throws(PackError) -> ReleaseIndex {
        try await change(signedBy: keys) { try $0.setEnabled(true, module) }
    }

    /// Sets the lowest version of a module that clients may still serve; clients with a lower version load online until
    /// they have the live one.
    ///
    /// - Parameters:
    ///   - version: The version, not above the live one; nil removes the minimum.
    ///   - module: The module.
    ///   - keys: The keys that sign the catalogue.
    /// - Returns: The new index.
    /// - Throws: ``WaystationPacks/PackError`` with `notInstalled` or `invalidArgument`.
    @discardableResult
    public func setMinimumVersion(
        _ version: PackVersion?,
        of module: ModuleID,
        signedBy keys: [SigningKey]
    ) async throws(PackError) -> ReleaseIndex {
        try await change(signedBy: keys) { try $0.setMinimumVersion(version, of: module) }
    }

    /// Sets the kind of network on which clients download a module's packs, from their next poll on.
    ///
    /// - Parameters:
    ///   - condition: The condition; `any` removes it. Other than `unmetered`, `wired`, `wireless` and `cellular`, it
    ///     may be one that a ``WaystationPacks/NetworkProbe`` of the app supports, with a name that begins with `x-`.
    ///     Clients without such a probe then download nothing.
    ///   - module: The module.
    ///   - keys: The keys that sign the catalogue.
    /// - Returns: The new index.
    /// - Throws: ``WaystationPacks/PackError``: `notInstalled` when nothing was published for the module,
    ///   `invalidArgument` for any other name.
    @discardableResult
    public func setNetwork(
        _ condition: NetworkCondition,
        of module: ModuleID,
        signedBy keys: [SigningKey]
    ) async throws(PackError) -> ReleaseIndex {
        try await change(signedBy: keys) { try $0.setNetwork(condition, of: module) }
    }

    /// Signs the catalogue again, without other changes.
    ///
    /// - Parameter keys: The keys that sign from now on. All of them sign, so that keys can be replaced while clients
    ///   trust the old or the new one.
    /// - Returns: The new index.
    /// - Throws: ``WaystationPacks/PackError`` when the disk or the bucket fails.
    @discardableResult
    public func resign(signedBy keys: [SigningKey]) async throws(PackError) -> ReleaseIndex {
        try await change(signedBy: keys) { _ in }
    }

    /// Signs the catalogue again if it expires soon, is missing, was signed by other keys, or does not match the index,
    /// as after a kill.
    ///
    /// - Parameters:
    ///   - remaining: How long the catalogue must still be valid; half of the configured time by default.
    ///   - keys: The keys that sign the catalogue.
    /// - Returns: Whether it was signed again.
    /// - Throws: ``WaystationPacks/PackError`` when the disk or the bucket fails.
    @discardableResult
    public func renew(within remaining: Duration? = nil, signedBy keys: [SigningKey]) async throws(PackError) -> Bool {
        let remaining = remaining ?? configuration.validity / 2
        let index = try await storage.index()
        let isCurrent =
            if let expires = index.expires, let catalogue = index.catalogue,
                expires.timeIntervalSince(environment.now()) > remaining.inSeconds,
                index.keys == keys.map(\.trusted.id),
                let file = try await storage.catalogue()
            {
                PackDigest(of: file) == catalogue
            } else {
                false
            }
        if !isCurrent { try await resign(signedBy: keys) }
        return !isCurrent
    }

    /// Changes the index, and signs and writes the catalogue that results.
    func change(
        signedBy keys: [SigningKey],
        _ body: @escaping @Sendable (inout ReleaseIndex) throws -> Void
    ) async throws(PackError) -> ReleaseIndex {
        try Self.check(keys)
        return try await storage.change(adding: nil, CatalogueSigner(keys, self), body)
    }

    static func check(_ keys: [SigningKey]) throws(PackError) {
        guard !keys.isEmpty else {
            throw PackError(
                .invalidArgument,
                "a catalogue needs a key that signs it: make one with `waystation keys generate`"
            )
        }
    }
}

/// A rollback that is made again when the index was replaced meanwhile.
///
/// The index may have been replaced by this very rollback, whose reply was lost. It must not go back twice then.
private struct Rollback {
    let module: ModuleID
    let version: PackVersion?
    private var lastAttempt: (before: State, after: State)?

    private struct State: Equatable {
        let live: PackVersion?
        let rollout: Rollout?
        let history: [PackVersion]

        init(_ module: ReleaseIndex.Module?) {
            (live, rollout, history) = (module?.live, module?.rollout, module?.history ?? [])
        }
    }

    init(module: ModuleID, version: PackVersion?) { (self.module, self.version) = (module, version) }

    mutating func apply(to index: inout ReleaseIndex) throws(PackError) {
        let before = State(index[module])
        if let lastAttempt {
            if before == lastAttempt.after { return }
            // A given version is the goal whatever others have done; without one, the last step must be the same one.
            guard version != nil || before == lastAttempt.before else {
                throw PackError(
                    .busy,
                    "other publishers changed \(module) during the rollback, and \(before.live?.description ?? "no version") "
                        + "is live now: look at the versions, and roll back again if that is still needed"
                )
            }
        }
        _ = try index.rollBack(module, to: version)
        lastAttempt = (before, State(index[module]))
    }
}

extension CatalogueSigner {
    init(_ keys: [SigningKey], _ directory: ReleaseDirectory) {
        self.init(keys: keys, validity: directory.configuration.validity, now: directory.environment.now)
    }
}
