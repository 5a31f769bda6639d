import Foundation
import Synchronization
import WaystationFileSystem
import WaystationFiles

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
