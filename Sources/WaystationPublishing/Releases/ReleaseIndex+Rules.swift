import WaystationPacks

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
