import Foundation
import Synchronization
import WaystationHTTP
import WaystationStorage

extension PackLibrary {
    /// Creates the directories and reads every record.
    func open() throws(PackError) {
        try onDisk("opening \(layout.root)") {
            for path in [layout.root, layout.modules, layout.staging, layout.downloads] {
                try environment.fileSystem.createDirectory(path)
            }
            try locked {
                // The files that a dead process left do no harm, but take up space.
                _ = try? StagingDirectory.removeLeftOvers(in: layout.staging, environment.fileSystem)
                removeUnfinishedStates()
                for module in try modulesOnDisk() {
                    try load(module)
                    sweep(module)
                }
            }
        }
        reindex()
    }

    /// Deletes the new states of the updater that a process wrote and did not rename before it was killed.
    private func removeUnfinishedStates() {
        let fileSystem = environment.fileSystem
        let names = ((try? fileSystem.contents(of: layout.root)) ?? []).filter(PackLayout.mayBeUnfinishedState)
        // While an updater works, they may be its own.
        guard !names.isEmpty, let lock = try? fileSystem.lock(layout.updaterLock) else { return }
        withExtendedLifetime(lock) {
            for name in names { try? fileSystem.removeFile("\(layout.root)/\(name)") }
        }
    }

    /// Reads the library's files again, to see the changes of other processes.
    ///
    /// - Throws: ``PackError`` when the directory cannot be read.
    public func refresh() async throws(PackError) {
        try await change { [self] in
            let modules = try modulesOnDisk()
            state.withLock { state in
                for module in state.records.keys where !modules.contains(module) {
                    state.records[module] = nil
                    state.packs[module] = nil
                }
            }
            for module in modules { try load(module) }
            reindex()
        }
    }

    private func modulesOnDisk() throws -> [ModuleID] {
        try environment.fileSystem.contents(of: layout.modules).compactMap(ModuleID.init).sorted()
    }

    /// Reads the record of a module and opens its active version.
    ///
    /// If the version's files are missing or its manifest is damaged, the previous version becomes active.
    func load(_ module: ModuleID) throws { adopt(try readRecord(of: module), of: module) }

    /// Takes over a record that is on disk, and opens its active version.
    func adopt(_ found: ModuleRecord, of module: ModuleID) {
        var record = found
        while let version = record.version(inFolder: record.active) {
            if state.withLock({ $0.packs[module]?.folder }) == version.folder { break }
            do {
                let pack = try openPack(module, version)
                state.withLock { $0.packs[module] = pack }
                settleUnreadable(module)
                break
            } catch let error as PackError where error.isDamage {
                tell(.damaged, module, version.version, "\(error)")
                record.rollBack()
                record.versions.removeAll { $0.folder == version.folder }
            } catch {
                // The next read may succeed, so the version is kept.
                tell(.unreadable, module, version.version, "\(error)")
                state.withLock { $0.packs[module] = nil }
                break
            }
        }
        if record.active == nil { state.withLock { $0.packs[module] = nil } }
        // If writing fails, the next start finds the same damage.
        if record != found { try? write(record, of: module) }
        let loaded = record
        // An empty record means that the module is unknown.
        state.withLock { $0.records[module] = loaded == ModuleRecord() ? nil : loaded }
    }

    /// Opens a version, after checking that its manifest has the digest in the record.
    func openPack(_ module: ModuleID, _ version: ModuleRecord.Version) throws -> ActivePack {
        let path = layout.manifest(of: module, version.folder)
        guard let json = try environment.fileSystem.readFile(path, limit: PackManifest.maximumSize) else {
            throw PackError(.damaged, "\(path) is missing; the version will be installed again")
        }
        guard PackDigest(of: json).hex == version.manifestSHA256 else {
            throw PackError(.damaged, "\(path) has changed since the installation; the version will be installed again")
        }
        do {
            return try ActivePack(
                module: module,
                folder: version.folder,
                manifest: PackManifest(json: json),
                root: URL(fileURLWithPath: layout.files(of: module, version.folder), isDirectory: true)
            )
        } catch let error as OfflineDirectoryError where [.missing, .notADirectory].contains(error.code) {
            throw PackError(.damaged, "the files of \(module) \(version.version) are missing", cause: error)
        }
    }

    /// Reads the record of a module; a damaged one is rebuilt from the versions on disk.
    func readRecord(of module: ModuleID) throws -> ModuleRecord {
        let path = layout.record(of: module)
        do {
            guard let json = try environment.fileSystem.readFile(path, limit: ModuleRecord.maximumSize) else {
                return ModuleRecord()
            }
            let format = try ModuleRecord.decoder.decode(ModuleRecord.Format.self, from: json).formatVersion
            guard format == ModuleRecord.formatVersion else {
                // A later Waystation wrote the record and may read it again, so it must not be overwritten.
                throw PackError(
                    .unsupportedVersion,
                    "\(path) has format version \(format), but this Waystation reads "
                        + "\(ModuleRecord.formatVersion): update the app, or give it another directory"
                )
            }
            return try ModuleRecord.decoder.decode(ModuleRecord.self, from: json)
        } catch let error as DecodingError {
            return try replaceDamagedRecord(of: module, error)
        } catch let error as FileError where error.code == EOVERFLOW {
            return try replaceDamagedRecord(of: module, error)
        }
    }

    private func replaceDamagedRecord(of module: ModuleID, _ error: any Error) throws -> ModuleRecord {
        let record = try rebuiltRecord(of: module)
        try write(record, of: module)
        let path = layout.record(of: module)
        tell(.damaged, module, nil, "\(path) could not be read and was rebuilt from the versions found: \(error)")
        return record
    }

    private func rebuiltRecord(of module: ModuleID) throws -> ModuleRecord {
        var record = ModuleRecord()
        for folder in try environment.fileSystem.contents(of: layout.module(module)) {
            guard
                let json = try? environment.fileSystem.readFile(
                    layout.manifest(of: module, folder),
                    limit: PackManifest.maximumSize
                ), let manifest = try? PackManifest(json: json), manifest.module == module
            else { continue }
            record.versions.append(
                ModuleRecord.Version(
                    folder: folder,
                    version: manifest.version,
                    manifestSHA256: PackDigest(of: json).hex,
                    installed: environment.now(),
                    minimumPackVersion: manifest.minimumPackVersion
                )
            )
        }
        let order = record.versions.sorted { $0.version > $1.version }
        record.active = order.first?.folder
        record.previous = order.dropFirst().first?.folder
        return record
    }

    func write(_ record: ModuleRecord, of module: ModuleID) throws {
        let path = layout.record(of: module)
        let json = try ModuleRecord.encoder.encode(record)
        // A larger file could not be read again.
        guard json.count <= ModuleRecord.maximumSize else {
            throw PackError(
                .tooLarge,
                "the record of \(module) would have \(json.count) bytes, but at most \(ModuleRecord.maximumSize) are "
                    + "allowed: shorten the whitelist that the server sends; nothing was changed"
            )
        }
        try environment.fileSystem.replaceFile(path, with: json)
    }

    /// Deletes the module's files that its record does not name: dropped versions, and the remains of an installation
    /// that was killed.
    ///
    /// Only names that the library gives itself are deleted. Called under the lock, so that no other process has just
    /// placed a folder that its record does not name yet. A file that cannot be deleted now is deleted later.
    func sweep(_ module: ModuleID) {
        let record = state.withLock { $0.records[module] } ?? ModuleRecord()
        let kept = Set(record.versions.map(\.folder) + [ModuleRecord.fileName])
        let names = (try? environment.fileSystem.contents(of: layout.module(module))) ?? []
        for name in names where !kept.contains(name) && PackLayout.mayBeOwn(name) {
            try? environment.fileSystem.removeTree(layout.version(name, of: module))
        }
    }

    /// Deletes the remains of a failed change, after reading again what is installed.
    func recover(_ module: ModuleID) {
        guard (try? load(module)) != nil else { return }
        reindex()
        sweep(module)
    }

    /// Rebuilds the index from the packs that answer requests.
    func reindex() {
        let packs = state.withLock { state in
            state.records.keys.sorted().compactMap { module -> (pack: ActivePack, whitelist: [String]?)? in
                guard let record = state.records[module], record.isServing else { return nil }
                return state.packs[module].map { ($0, record.whitelist) }
            }
        }
        let index = PackIndex(packs)
        state.withLock { $0.index = index }
    }
}

extension ModuleRecord {
    static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }

    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}

/// How long and how often a version may run without being confirmed.
struct TrialLimits: Sendable {
    /// The time in one run of the app.
    var window: Duration
    /// The number of runs.
    var starts: Int
}

/// One trial of a version in this process; a later trial of the same version is a different value.
struct Trial: Hashable, Sendable {
    let module: ModuleID
    let folder: String
    let since: Date
}

extension PackLibrary {
    /// Starts a version's time as the active one, on trial if asked for; this start of the app counts as the trial's
    /// first.
    func begin(_ folder: String, of module: ModuleID, in record: inout ModuleRecord, onTrial isOnTrial: Bool) {
        // The time is rounded to whole seconds, since records hold no fractions.
        let now = Date(timeIntervalSince1970: environment.now().timeIntervalSince1970.rounded(.down))
        record.begin(folder, onTrial: isOnTrial, at: now)
        guard record.version(inFolder: folder)?.trialSince != nil else { return }
        note(Trial(module: module, folder: folder, since: now))
    }

    /// Restarts the clock of a trial that this process has seen: the app cannot confirm a version that did not answer.
    func restartTrial(of module: ModuleID, in record: ModuleRecord) {
        guard let current = record.version(inFolder: record.active), let since = current.trialSince else { return }
        let trial = Trial(module: module, folder: current.folder, since: since)
        if state.withLock({ $0.trials[trial] }) != nil { note(trial) }
    }

    /// Records the start of a trial in this process, in place of the module's earlier trials.
    private func note(_ trial: Trial) {
        let uptime = environment.uptime()
        state.withLock { state in
            state.trials = state.trials.filter { $0.key.module != trial.module }
            state.trials[trial] = uptime
        }
    }

    /// Rolls the active version back if the app has not confirmed it in time, or not in the allowed number of starts.
    ///
    /// The time is measured by a monotonic clock, and starts again in each process. So setting the time of day forward
    /// takes no time away from the app, and setting it back gives none to a bad version. A version with which the app
    /// always ends before the time is up is rolled back after a number of starts. A process's first call for a trial
    /// counts as a start. While the module is switched off, or its version is below the lowest usable one, neither time
    /// nor starts count.
    func settleTrial(
        of module: ModuleID,
        _ limits: TrialLimits,
        retryingAfter retryInterval: Duration
    ) async throws(PackError) {
        try await update(module) { library, record -> (version: PackVersion, reason: String)? in
            guard let current = record.version(inFolder: record.active), let since = current.trialSince else {
                return nil
            }
            let trial = Trial(module: module, folder: current.folder, since: since)
            guard record.isServing else {
                library.restartTrial(of: module, in: record)
                return nil
            }
            let reason: String
            if let begun = library.state.withLock({ $0.trials[trial] }) {
                guard library.environment.uptime() - begun > limits.window else { return nil }
                reason = "the app did not confirm the version within \(limits.window)"
            } else {
                let starts = current.trialStarts ?? 0
                guard starts >= limits.starts else {
                    record.change(current.folder) { $0.trialStarts = starts + 1 }
                    library.note(trial)
                    return nil
                }
                reason = "the app did not confirm the version in \(starts) starts"
            }
            let now = library.environment.now()
            record.giveUp(current, reason: reason, retryAt: now.addingTimeInterval(retryInterval.inSeconds), at: now)
            return (current.version, reason)
        } telling: { given in
            if let given { self.tell(.rolledBack, module, given.version, given.reason) }
        }
    }
}
