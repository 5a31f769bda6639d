import Foundation
import Synchronization
import WaystationFileSystem

extension PackLibrary {
    /// Lets an installed version answer; of several copies of it a sound one, and that which was installed last.
    ///
    /// - Throws: ``PackError`` with the code `notInstalled` when the module has no such version, or when its manifest
    ///   is damaged, or the disk fails; what answered before goes on then.
    public func activate(_ module: ModuleID, version: PackVersion) async throws(PackError) {
        try await activate(LocalPack(version), of: module, onTrial: false)
    }

    /// The same for one pack of those that may have the version's number.
    ///
    /// - Returns: Whether another one answered before.
    @discardableResult
    func activate(_ pack: LocalPack, of module: ModuleID, onTrial isOnTrial: Bool) async throws(PackError) -> Bool {
        try await update(module) { library, record in
            guard let found = record.copy(where: pack.isCopied) else { throw Self.missing(module, pack.version) }
            _ = try library.openPack(module, found)
            let hasChanged = record.active != found.folder
            record.activate(found.folder)
            if hasChanged || !isOnTrial { library.begin(found.folder, of: module, in: &record, onTrial: isOnTrial) }
            record.failures.removeAll { $0.way == .version && $0.to == pack.version }
            return hasChanged
        } telling: { hasChanged in
            if hasChanged { self.tell(.activated, module, pack.version) }
        }
    }

    /// Lets the previous version answer again; where there is none, the module's URLs go to the network.
    ///
    /// It never leads to a higher version. After the server has ordered a lower one, or the app has activated one, the
    /// version that was left is no previous one.
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
        try await update(module) { library, record -> PackVersion in
            guard let current = record.version(inFolder: record.active) else { throw Self.missing(module, nil) }
            let now = library.environment.now()
            record.giveUp(current, reason: reason, retryAt: now.addingTimeInterval(retryInterval.inSeconds), at: now)
            return current.version
        } telling: { version in
            self.tell(.rolledBack, module, version, reason)
        }
    }

    /// Says that the active version works: its trial is over.
    ///
    /// Does nothing when it is not on trial.
    /// - Throws: ``PackError`` when the disk fails.
    public func confirm(_ module: ModuleID) async throws(PackError) {
        try await update(module) { _, record -> PackVersion? in
            guard let current = record.version(inFolder: record.active), current.trialSince != nil else { return nil }
            record.change(current.folder) { version in
                version.trialSince = nil
                version.trialStarts = nil
                version.wasConfirmed = true
            }
            return current.version
        } telling: { version in
            if let version { self.tell(.confirmed, module, version) }
        }
    }

    /// Switches a module's packs on or off for the app; off means that its URLs go on to what follows in their rule.
    ///
    /// The app's switch and the server's are two: a module answers while both are on, and neither changes the other. So
    /// what the app switches off stays off until the app switches it on, whatever the server offers meanwhile. The packs
    /// stay on disk, and an updater keeps them up to date.
    /// - Throws: ``PackError`` when the disk fails.
    public func setEnabled(_ isEnabled: Bool, _ module: ModuleID) async throws(PackError) {
        try await setSwitch(\.isEnabledByApp, to: isEnabled, of: module) { record in
            record.isEnabled ? "by the app" : "by the app; the server has switched it off"
        }
    }

    /// Switches a module's packs on or off for the server.
    func setEnabledByServer(_ isEnabled: Bool, _ module: ModuleID) async throws(PackError) {
        try await setSwitch(\.isEnabled, to: isEnabled, of: module) { record in
            record.isEnabledByApp ? "by the server" : "by the server; the app has switched it off"
        }
    }

    private func setSwitch(
        _ path: any WritableKeyPath<ModuleRecord, Bool> & Sendable,
        to isEnabled: Bool,
        of module: ModuleID,
        detail: @escaping @Sendable (ModuleRecord) -> String
    ) async throws(PackError) {
        try await update(module) { library, record -> String? in
            guard record[keyPath: path] != isEnabled else { return nil }
            record[keyPath: path] = isEnabled
            library.restartTrial(of: module, in: record)
            return detail(record)
        } telling: { detail in
            if let detail { self.tell(isEnabled ? .enabled : .disabled, module, nil, detail) }
        }
    }

    /// Takes over what an offer says about the module beside its versions.
    ///
    /// The lowest version that may still be used: lower ones stay on disk and do not answer. And the URLs that may be;
    /// entries that are not understood are told of.
    func take(_ offer: ModuleOffer) async throws(PackError) {
        let known = state.withLock { $0.records[offer.module] }
        guard known != nil || offer.minimumVersion != nil || offer.whitelist != nil else { return }
        if known?.minimumVersion == offer.minimumVersion, known?.whitelist == offer.whitelist { return }
        try await update(offer.module) { _, record in
            defer {
                record.minimumVersion = offer.minimumVersion
                record.whitelist = offer.whitelist
            }
            return record.whitelist == offer.whitelist ? [] : Whitelist(offer.whitelist ?? []).rejected
        } telling: { rejected in
            for entry in rejected { self.tell(.rejected, offer.module, nil, "an entry of the whitelist: \(entry)") }
        }
    }

    /// Notes a way to a version that did not work.
    func note(
        _ failure: FailedUpdate,
        of module: ModuleID,
        pausing pause: RetryPause,
        at now: Date
    ) async throws(PackError) {
        try await update(module) { _, record in record.note(failure, pausing: pause, at: now) }
    }

    /// Removes a module with all its versions, and forgets what the app and the server switched off of it.
    ///
    /// Loads under way may end with an error of a file that is no longer there.
    /// - Throws: ``PackError`` when the disk fails.
    public func remove(_ module: ModuleID) async throws(PackError) {
        let made = try await change { [self] in
            let path = layout.record(of: module)
            // The record first: without it the rest is garbage.
            try environment.fileSystem.removeFile(path)
            let doubt = doubt(in: "the removal of \(path)") {
                try environment.fileSystem.synchronizeDirectory(layout.module(module))
            }
            adopt(ModuleRecord(), of: module)
            reindex()
            sweep(module)
            try? environment.fileSystem.removeDirectory(layout.module(module))
            return Made(value: (), doubt: doubt)
        }
        tell(.removed, module, nil)
        if let doubt = made.doubt { throw doubt }
    }

    static func missing(_ module: ModuleID, _ version: PackVersion?) -> PackError {
        PackError(.notInstalled, "\(module)\(version.map { " \($0)" } ?? "") is not installed; install it first")
    }

    // MARK: - One change at a time

    /// A change that is in effect.
    struct Made<Value: Sendable>: Sendable {
        let value: Value
        /// Set where the disk did not say that the change will be there after a power cut.
        var doubt: PackError?
    }

    /// Changes the record of a module, on disk and then in memory.
    ///
    /// - Parameters:
    ///   - module: The module.
    ///   - body: The change; when it throws nothing is changed.
    ///   - telling: Told of the change once it is in effect, also where the disk then fails to confirm it.
    /// - Returns: What `body` returned.
    /// - Throws: ``PackError``; nothing is changed then, except with `notDurable`.
    @discardableResult
    func update<Value: Sendable>(
        _ module: ModuleID,
        _ body: @escaping @Sendable (PackLibrary, inout ModuleRecord) throws -> Value,
        telling: (Value) -> Void = { _ in }
    ) async throws(PackError) -> Value {
        let made = try await change { [self] in try updateNow(module) { record in try body(self, &record) } }
        telling(made.value)
        if let doubt = made.doubt { throw doubt }
        return made.value
    }

    /// The same within a change.
    func updateNow<Value>(_ module: ModuleID, _ body: (inout ModuleRecord) throws -> Value) throws -> Made<Value> {
        let found = try readRecord(of: module)
        var record = found
        var made = Made(value: try body(&record))
        if record != found {
            record = try record.asWritten()
            do {
                try environment.fileSystem.createDirectory(layout.module(module))
                try write(record, of: module)
            } catch {
                // What failed may have come after the rename: what is there now tells.
                guard try isOnDisk(record, of: module, after: error) else { throw error }
                made.doubt = .notDurable("the new \(layout.record(of: module))", error)
            }
        }
        adopt(record, of: module)
        reindex()
        return made
    }

    private func isOnDisk(_ record: ModuleRecord, of module: ModuleID, after error: any Error) throws(PackError) -> Bool
    {
        do {
            return try readRecord(of: module) == record
        } catch {
            throw PackError(
                .fileSystem,
                "the disk failed while \(layout.record(of: module)) was replaced, and does not tell whether it was: "
                    + "the library goes on with the one before, and the next start finds out",
                cause: error
            )
        }
    }

    /// What the disk says against bringing something onto the medium; nil when it is there.
    private func doubt(in what: String, _ synchronize: () throws -> Void) -> PackError? {
        do {
            try synchronize()
            return nil
        } catch {
            return .notDurable(what, error)
        }
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
        } catch {
            throw PackError(error, while: task)
        }
    }

    /// The same for work that is divided, or can be cancelled.
    func onDisk<Value>(_ task: String, _ body: () async throws -> Value) async throws(PackError) -> Value {
        do {
            return try await body()
        } catch {
            throw PackError(error, while: task)
        }
    }
}

extension PackError {
    fileprivate static func notDurable(_ what: String, _ error: any Error) -> PackError {
        PackError(
            .notDurable,
            "\(what) is in effect, and the disk did not confirm that it outlives a power cut: look after the disk",
            cause: error
        )
    }

    /// What stopped something before it changed anything.
    fileprivate init(_ error: any Error, while task: String) {
        switch error {
        case let error as PackError: self = error
        case is CancellationError:
            self.init(.cancelled, "\(task) was cancelled; nothing was changed", cause: error)
        case let error as FileError where error.isFull:
            self.init(
                .noSpace,
                "the disk is full while \(task): free some space; nothing was changed",
                cause: error
            )
        default: self.init(.fileSystem, "the disk failed while \(task); nothing was changed", cause: error)
        }
    }
}
