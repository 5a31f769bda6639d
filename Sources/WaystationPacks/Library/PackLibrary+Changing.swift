import Foundation
import Synchronization
import WaystationHTTP
import WaystationStorage

extension PackLibrary {
    /// Makes an installed version the active one; of several copies, an undamaged one, then the one installed last.
    ///
    /// - Throws: ``PackError`` with the code `notInstalled` when the module has no such version; also when the
    ///   version's manifest is damaged or the disk fails. The active version is then unchanged. A damaged version is
    ///   marked, so that an updater fetches it again.
    public func activate(_ module: ModuleID, version: PackVersion) async throws(PackError) {
        try await activate(LocalPack(version), of: module, onTrial: false)
    }

    /// Activates one pack, where several may have the same version number.
    ///
    /// - Returns: Whether another pack was active before.
    @discardableResult
    func activate(_ pack: LocalPack, of module: ModuleID, onTrial isOnTrial: Bool) async throws(PackError) -> Bool {
        let activation = try await update(module) { library, record -> Result<Bool, PackError> in
            guard let found = record.copy(where: pack.isCopied) else { throw Self.missing(module, pack.version) }
            do {
                _ = try library.openPack(module, found)
            } catch let error as PackError where error.isDamage {
                record.change(found.folder) { $0.isDamaged = true }
                return .failure(error)
            }
            let hasChanged = record.active != found.folder
            record.activate(found.folder)
            if hasChanged || !isOnTrial { library.begin(found.folder, of: module, in: &record, onTrial: isOnTrial) }
            record.failures.removeAll { $0.way == .version && $0.to == pack.version }
            return .success(hasChanged)
        } telling: { activation in
            switch activation {
            case .success(let hasChanged): if hasChanged { self.tell(.activated, module, pack.version) }
            case .failure(let error): self.tell(.damaged, module, pack.version, "\(error)")
            }
        }
        return try activation.get()
    }

    /// Activates the previous version again.
    ///
    /// If the module has no previous version, no version of it is active afterwards, and requests for its URLs continue
    /// with the next source of their rule.
    ///
    /// A roll-back never leads to a higher version. When the server or the app has activated a lower version, the
    /// higher one does not become the previous version.
    ///
    /// - Parameters:
    ///   - module: The module.
    ///   - version: The version that was found bad: if another one is active by now, as after an update, nothing
    ///     changes. Nil, the default, means the active version.
    ///   - reason: The reason, for the record and the event. The version that is rolled back is marked as bad with it.
    ///   - retryInterval: How long an updater skips the version before it tries it again; a day by default.
    /// - Throws: ``PackError`` with the code `notInstalled` when the module has no active version.
    public func rollBack(
        _ module: ModuleID,
        version: PackVersion? = nil,
        reason: String,
        retryingAfter retryInterval: Duration = .seconds(86_400)
    ) async throws(PackError) {
        try await update(module) { library, record -> PackVersion? in
            guard let current = record.version(inFolder: record.active) else { throw Self.missing(module, nil) }
            guard version == nil || version == current.version else { return nil }
            let now = library.environment.now()
            record.giveUp(current, reason: reason, retryAt: now.addingTimeInterval(retryInterval.inSeconds), at: now)
            return current.version
        } telling: { version in
            if let version { self.tell(.rolledBack, module, version, reason) }
        }
    }

    /// Confirms that the active version works, which ends its trial.
    ///
    /// Does nothing when the version is not on trial.
    ///
    /// - Parameters:
    ///   - module: The module.
    ///   - version: The version that works: if another one is active by now, as after an update, nothing changes. Nil,
    ///     the default, means the active version.
    /// - Throws: ``PackError`` when the disk fails.
    public func confirm(_ module: ModuleID, version: PackVersion? = nil) async throws(PackError) {
        try await update(module) { _, record -> PackVersion? in
            guard let current = record.version(inFolder: record.active), current.trialSince != nil,
                version == nil || version == current.version
            else { return nil }
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

    /// Switches a module's packs on or off for the app; while they are off, its URLs go on to the next part of their
    /// rule.
    ///
    /// The app and the server each have a switch. A module answers while both are on, and neither side changes the
    /// other's switch. So a module that the app switches off stays off until the app switches it on again, whatever the
    /// server offers meanwhile. The packs stay on disk, and an updater keeps them up to date.
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

    /// Stores the module's settings from an offer: the lowest version that may still be used, and the whitelist.
    ///
    /// Versions below the lowest one stay on disk and do not answer. Whitelist entries that are not valid are reported
    /// as events.
    /// - Throws: ``PackError`` with the code `tooLarge` when the whitelist is too long, or when the disk fails.
    func take(_ offer: ModuleOffer) async throws(PackError) {
        let known = state.withLock { $0.records[offer.module] }
        guard known != nil || offer.minimumVersion != nil || offer.whitelist != nil else { return }
        if known?.minimumVersion == offer.minimumVersion, known?.whitelist == offer.whitelist { return }
        if known?.whitelist != offer.whitelist { try checkWhitelist(of: offer) }
        try await update(offer.module) { _, record in
            defer {
                record.minimumVersion = offer.minimumVersion
                record.whitelist = offer.whitelist
            }
            return record.whitelist == offer.whitelist ? [] : Whitelist(offer.whitelist ?? []).rejected
        } telling: { rejected in
            for entry in rejected {
                let problem = "\(entry.pattern.quoted(upTo: 200)), where \(entry.expected.shown(upTo: 200)) is expected"
                self.tell(.rejected, offer.module, nil, "an entry of the whitelist: \(problem)")
            }
        }
    }

    /// Refuses a whitelist that would leave too little space in the record for later changes.
    func checkWhitelist(of offer: ModuleOffer) throws(PackError) {
        guard let whitelist = offer.whitelist else { return }
        let size = (try? ModuleRecord.encoder.encode(whitelist).count) ?? .max
        guard size <= ModuleRecord.maximumWhitelistSize else {
            throw PackError(
                .tooLarge,
                "the whitelist of \(offer.module) has \(size) bytes, but at most \(ModuleRecord.maximumWhitelistSize) "
                    + "are allowed: shorten the whitelist that the server sends; nothing was changed"
            )
        }
    }

    /// Records an update that failed.
    func note(
        _ failure: FailedUpdate,
        of module: ModuleID,
        pausing pause: RetryPause,
        at now: Date
    ) async throws(PackError) {
        try await update(module) { _, record in record.note(failure, pausing: pause, at: now) }
    }

    /// Removes a module with all its versions, and with the app's and the server's switches.
    ///
    /// Loads in progress may fail, since their file no longer exists.
    /// - Throws: ``PackError`` when the disk fails.
    public func remove(_ module: ModuleID) async throws(PackError) {
        let made = try await change { [self] in
            let path = layout.record(of: module)
            // The record goes first: without it, the rest counts as garbage.
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

    /// The result of a change that is in effect.
    struct Made<Value: Sendable>: Sendable {
        let value: Value
        /// Set when the disk did not confirm that the change would survive a power cut.
        var doubt: PackError?
    }

    /// Changes the record of a module, on disk and then in memory.
    ///
    /// - Parameters:
    ///   - module: The module.
    ///   - body: The change; when it throws, nothing is changed.
    ///   - telling: Called with the result once the change is in effect, also if the disk did not confirm it.
    /// - Returns: The value that `body` returned.
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

    /// Changes the record of a module; only called within `change(_:)`.
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
                // The error may have come after the rename, so the record is read again to find out.
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
                "the disk failed while \(layout.record(of: module)) was replaced, and it cannot be read now: "
                    + "the library continues with the old one; the next start finds out which one is on the disk",
                cause: error
            )
        }
    }

    /// Synchronises a change to the disk; returns the error when that fails, and nil otherwise.
    private func doubt(in what: String, _ synchronize: () throws -> Void) -> PackError? {
        do {
            try synchronize()
            return nil
        } catch {
            return .notDurable(what, error)
        }
    }

    /// Runs a change while no other change runs, in this process or in another.
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

    /// Converts errors of the disk to the library's error.
    func onDisk<Value>(_ task: String, _ body: () throws -> Value) throws(PackError) -> Value {
        do {
            return try body()
        } catch {
            throw PackError(error, while: task)
        }
    }

    /// Converts errors of the disk, for work that runs on several threads or can be cancelled.
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
            "\(what) is in effect, but the disk did not confirm that it would survive a power cut: check the disk",
            cause: error
        )
    }

    /// The error that stopped a task before it changed anything.
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
        default: self.init(.fileSystem, "\(task) failed; nothing was changed", cause: error)
        }
    }
}
