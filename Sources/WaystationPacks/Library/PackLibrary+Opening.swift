import Foundation
import Synchronization
import WaystationFileSystem
import WaystationFiles

extension PackLibrary {
    /// Makes the directories and reads every record.
    func open() throws(PackError) {
        try onDisk("opening \(layout.root)") {
            for path in [layout.root, layout.modules, layout.staging, layout.downloads] {
                try environment.fileSystem.createDirectory(path)
            }
            try locked {
                // What a dead process left is in nobody's way, but takes room.
                _ = try? StagingDirectory.removeLeftOvers(in: layout.staging, environment.fileSystem)
                for module in try modulesOnDisk() {
                    try load(module)
                    sweep(module)
                }
            }
        }
        reindex()
    }

    /// Reads again what is on disk, for what other processes have changed meanwhile.
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
    /// A version that is not there or whose manifest is damaged gives way to the one before.
    func load(_ module: ModuleID) throws { adopt(try readRecord(of: module), of: module) }

    /// Makes a record that is on disk the one that counts, and opens its active version.
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
                // The disk may do better next time: nothing is given up for that.
                tell(.unreadable, module, version.version, "\(error)")
                state.withLock { $0.packs[module] = nil }
                break
            }
        }
        if record.active == nil { state.withLock { $0.packs[module] = nil } }
        // Where that fails, the next start finds the same damage.
        if record != found { try? write(record, of: module) }
        let loaded = record
        // A record that says nothing is one of a module that nobody knows.
        state.withLock { $0.records[module] = loaded == ModuleRecord() ? nil : loaded }
    }

    /// Opens a version whose manifest is what the record says.
    func openPack(_ module: ModuleID, _ version: ModuleRecord.Version) throws -> ActivePack {
        let path = layout.manifest(of: module, version.folder)
        guard let json = try environment.fileSystem.readFile(path, limit: PackManifest.maximumSize) else {
            throw PackError(.damaged, "\(path) is missing; the version will be installed anew")
        }
        guard PackDigest(of: json).hex == version.manifestSHA256 else {
            throw PackError(.damaged, "\(path) is not what was installed; the version will be installed anew")
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

    /// The record of a module; where it is damaged, one made of the versions that are there.
    func readRecord(of module: ModuleID) throws -> ModuleRecord {
        let path = layout.record(of: module)
        guard let json = try environment.fileSystem.readFile(path, limit: ModuleRecord.maximumSize) else {
            return ModuleRecord()
        }
        do {
            let format = try ModuleRecord.decoder.decode(ModuleRecord.Format.self, from: json).formatVersion
            guard format == ModuleRecord.formatVersion else {
                // A later Waystation wrote it, and will read it again: nothing here may overwrite what it says.
                throw PackError(
                    .unsupportedVersion,
                    "\(path) has format version \(format) and this Waystation reads "
                        + "\(ModuleRecord.formatVersion): update the app, or give it another directory"
                )
            }
            return try ModuleRecord.decoder.decode(ModuleRecord.self, from: json)
        } catch let error as DecodingError {
            let record = try rebuiltRecord(of: module)
            try write(record, of: module)
            tell(.damaged, module, nil, "\(path) could not be read and was made anew from the versions found: \(error)")
            return record
        }
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
        try environment.fileSystem.replaceFile(path, with: ModuleRecord.encoder.encode(record))
    }

    /// Removes what no record names: versions that were dropped, and what a kill left of one that was being added.
    ///
    /// Under the lock, so that no other process is between placing a folder and naming it. What cannot be removed now
    /// is removed later.
    func sweep(_ module: ModuleID) {
        let record = state.withLock { $0.records[module] } ?? ModuleRecord()
        let kept = Set(record.versions.map(\.folder) + [ModuleRecord.fileName])
        let names = (try? environment.fileSystem.contents(of: layout.module(module))) ?? []
        for name in names where !kept.contains(name) && PackLayout.mayBeOwn(name) {
            try? environment.fileSystem.removeTree(layout.version(name, of: module))
        }
    }

    /// Removes what a change that failed has left, once it is known what it changed.
    func recover(_ module: ModuleID) {
        guard (try? load(module)) != nil else { return }
        reindex()
        sweep(module)
    }

    /// Makes the index anew from the packs that answer.
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
