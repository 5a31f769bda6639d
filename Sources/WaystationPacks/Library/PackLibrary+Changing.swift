import Foundation
import Synchronization
import WaystationFileSystem

extension PackLibrary {
    /// Lets an installed version answer.
    ///
    /// - Throws: ``PackError`` with the code `notInstalled` when the module has no such version, or when its manifest
    ///   is damaged, or the disk fails; what answered before goes on then.
    public func activate(_ module: ModuleID, version: PackVersion) async throws(PackError) {
        try await activate(module, version: version, onTrial: false)
    }

    func activate(_ module: ModuleID, version: PackVersion, onTrial isOnTrial: Bool) async throws(PackError) {
        try await update(module) { library, record in
            let now = library.environment.now()
            guard let found = record.version(version) else { throw Self.missing(module, version) }
            _ = try library.openPack(module, found)
            record.activate(found.folder)
            record.change(found.folder) { version in
                version.badReason = nil
                version.badSince = nil
                // What worked once need not show it again.
                version.trialSince = isOnTrial && version.wasConfirmed != true ? now : nil
            }
            record.failures.removeAll { $0.way == .version && $0.to == version }
        }
        tell(.activated, module, version)
    }

    /// Lets the previous version answer again; where there is none, the module's URLs go to the network.
    ///
    /// - Parameters:
    ///   - module: The module.
    ///   - reason: Why, for the record and the event. The version that goes is marked bad with it.
    ///   - retryInterval: How long an updater leaves the version alone; a day by default. It is tried again then.
    /// - Throws: ``PackError`` with the code `notInstalled` when no version of the module answers.
    public func rollBack(
        _ module: ModuleID,
        reason: String,
        retryingAfter retryInterval: Duration = .seconds(86_400)
    ) async throws(PackError) {
        let version = try await update(module) { library, record -> PackVersion in
            guard let current = record.version(inFolder: record.active) else { throw Self.missing(module, nil) }
            let now = library.environment.now()
            record.giveUp(current, reason: reason, retryAt: now.addingTimeInterval(retryInterval.inSeconds), at: now)
            return current.version
        }
        tell(.rolledBack, module, version, reason)
    }

    /// Rolls the active version back if the app has not confirmed it within a time.
    func settleTrial(
        of module: ModuleID,
        within window: Duration,
        retryingAfter retryInterval: Duration
    ) async throws(PackError) {
        let reason = "the app did not confirm it within \(window)"
        let version = try await update(module) { library, record -> PackVersion? in
            let now = library.environment.now()
            guard let current = record.version(inFolder: record.active), let since = current.trialSince,
                now.timeIntervalSince(since) > window.inSeconds
            else { return nil }
            record.giveUp(current, reason: reason, retryAt: now.addingTimeInterval(retryInterval.inSeconds), at: now)
            return current.version
        }
        if let version { tell(.rolledBack, module, version, reason) }
    }

    /// Says that the active version works: its trial is over.
    ///
    /// Does nothing when it is not on trial.
    /// - Throws: ``PackError`` when the disk fails.
    public func confirm(_ module: ModuleID) async throws(PackError) {
        let version = try await update(module) { _, record -> PackVersion? in
            guard let current = record.version(inFolder: record.active), current.trialSince != nil else { return nil }
            record.change(current.folder) { version in
                version.trialSince = nil
                version.wasConfirmed = true
            }
            return current.version
        }
        if let version { tell(.confirmed, module, version) }
    }

    /// Switches a module's packs on or off; off means that its URLs go on to what follows in their rule.
    ///
    /// The packs stay on disk. A server's order does the same.
    /// - Throws: ``PackError`` when the disk fails.
    public func setEnabled(_ isEnabled: Bool, _ module: ModuleID) async throws(PackError) {
        let hasChanged = try await update(module) { _, record in
            defer { record.isEnabled = isEnabled }
            return record.isEnabled != isEnabled
        }
        if hasChanged { tell(isEnabled ? .enabled : .disabled, module, nil) }
    }

    /// Takes over what an offer says about the module beside its versions: the lowest that may still be used (lower ones
    /// stay on disk and do not answer), and the URLs that may be.
    func take(_ offer: ModuleOffer) async throws(PackError) {
        let known = state.withLock { $0.records[offer.module] }
        guard known != nil || offer.minimumVersion != nil || offer.whitelist != nil else { return }
        if known?.minimumVersion == offer.minimumVersion, known?.whitelist == offer.whitelist { return }
        try await update(offer.module) { _, record in
            record.minimumVersion = offer.minimumVersion
            record.whitelist = offer.whitelist
        }
    }

    /// Notes a way to a version that did not work.
    func note(_ failure: FailedUpdate, of module: ModuleID) async throws(PackError) {
        try await update(module) { library, record in record.note(failure, at: library.environment.now()) }
    }

    /// Removes a module with all its versions.
    ///
    /// Loads under way may end with an error of a file that is no longer there.
    /// - Throws: ``PackError`` when the disk fails.
    public func remove(_ module: ModuleID) async throws(PackError) {
        try await change { [self] in
            // The record first: without it the rest is garbage.
            try environment.fileSystem.removeFile(layout.record(of: module))
            state.withLock { state in
                state.records[module] = nil
                state.packs[module] = nil
            }
            reindex()
            try environment.fileSystem.removeTree(layout.module(module))
        }
        tell(.removed, module, nil)
    }

    static func missing(_ module: ModuleID, _ version: PackVersion?) -> PackError {
        PackError(.notInstalled, "\(module)\(version.map { " \($0)" } ?? "") is not installed; install it first")
    }

    // MARK: - One change at a time

    /// Changes the record of a module, on disk and then in memory.
    @discardableResult
    func update<Value: Sendable>(
        _ module: ModuleID,
        _ body: @escaping @Sendable (PackLibrary, inout ModuleRecord) throws -> Value
    ) async throws(PackError) -> Value {
        try await change { [self] in try updateNow(module) { record in try body(self, &record) } }
    }

    /// The same within a change.
    func updateNow<Value>(_ module: ModuleID, _ body: (inout ModuleRecord) throws -> Value) throws -> Value {
        let found = try readRecord(of: module)
        var record = found
        let value = try body(&record)
        if record != found {
            try environment.fileSystem.createDirectory(layout.module(module))
            try write(record, of: module)
        }
        try load(module)
        reindex()
        return value
    }

    /// Runs a change alone: no other of this process or of another runs meanwhile.
    func change<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws(PackError) -> Value {
        let result: Result<Value, PackError> = await withCheckedContinuation { continuation in
            changes.async { [self] in
                continuation.resume(
                    returning: Result { () throws(PackError) in
                        try onDisk("changing \(layout.root)") { try locked(body) }
                    }
                )
            }
        }
        return try result.get()
    }

    /// Runs `body` while no other process changes the library.
    func locked<Value>(_ body: () throws -> Value) throws -> Value {
        let lock = try environment.fileSystem.waitForLock(layout.lock)
        return try withExtendedLifetime(lock) { try body() }
    }

    /// Turns what the disk throws into the library's error.
    func onDisk<Value>(_ task: String, _ body: () throws -> Value) throws(PackError) -> Value {
        do {
            return try body()
        } catch let error as PackError {
            throw error
        } catch let error as FileError where error.isFull {
            throw PackError(
                .noSpace,
                "the disk is full while \(task): free some space; nothing was changed",
                cause: error
            )
        } catch {
            throw PackError(.fileSystem, "the disk failed while \(task); nothing was changed", cause: error)
        }
    }
}
