import Dispatch
public import Foundation
import Synchronization
import WaystationFileSystem
import WaystationFiles
import WaystationRules

/// The packs that are installed: whole versions of modules, one of each answering.
///
/// ```swift
/// let packs = try PackLibrary(directory: caches.appending(path: "packs"))
/// if packs.module(shop) == nil { try await packs.install(zip: bundled) }  // at the first start
/// if let local = packs.fileURL(for: home) { load(local.file, readAccess: local.root) }
/// ```
///
/// **A version is whole or is not there.** It is written in a staging folder, brought onto the medium, renamed into
/// place, and then named in its module's record, which is replaced by a rename. After a kill or a power cut at any
/// moment the next start finds the old state or the new one. The version before is kept for
/// ``rollBack(_:reason:retryingAfter:)``.
///
/// **No file is served that is not what its manifest says**: each is compared with its SHA-256 when it is first used.
///
/// **Threads.** All members may be called from any thread. Looking up touches memory only. Changes are made one at a
/// time, also by several processes on one directory; a process sees the changes of others when it makes one itself or
/// calls ``refresh()``. A change whose task is cancelled while it copies, unpacks, patches or compares ends soon with the
/// code `cancelled` and leaves no trace; once a version takes its place that is completed. Work that waits for the disk is
/// done on threads of its own, not on Swift's.
public final class PackLibrary: Sendable {
    /// The directory that holds the packs; made when missing, with access for its owner alone.
    public let directory: URL

    let environment: PackEnvironment
    let layout: PackLayout
    let state: Mutex<State>
    /// Changes, one at a time.
    let changes = DispatchQueue(label: "Waystation.packs")
    private let troubles = Mutex(PackCondition())
    private let listeners = Mutex<[@Sendable (PackEvent) -> Void]>([])

    struct State: Sendable {
        var records: [ModuleID: ModuleRecord] = [:]
        var packs: [ModuleID: ActivePack] = [:]
        var index = PackIndex()
        /// Since when the trials run that this process has seen, by its own clock.
        var trials: [Trial: Duration] = [:]
        /// Damaged files that were told of.
        var toldDamage: Set<String> = []
    }

    /// Opens a library and reads what is installed.
    ///
    /// Reads one record and one manifest for each module; costs a few milliseconds.
    ///
    /// - Parameters:
    ///   - directory: Where the packs are; nothing else should be in it.
    ///   - now: The time of day, for tests.
    ///   - clock: Measures how long a version on trial runs, for tests: a clock that does not jump when the time of day is
    ///     set.
    ///   - events: Told what happens, on the thread that caused it, which waits: hand longer work on.
    /// - Throws: ``PackError`` when the directory cannot be made or read, and when it or something that the library uses
    ///   in it is a symbolic link, belongs to another user or may be written to by others. What is damaged in it does not throw: it is
    ///   told as an event, and the version before answers, or none.
    public convenience init(
        directory: URL,
        now: @escaping @Sendable () -> Date = { Date() },
        clock: some Clock<Duration> = ContinuousClock(),
        events: @escaping @Sendable (PackEvent) -> Void = { _ in }
    ) throws(PackError) {
        var environment = PackEnvironment()
        let start = clock.now
        environment.now = now
        environment.uptime = { start.duration(to: clock.now) }
        try self.init(directory: directory, environment: environment, events: events)
    }

    package init(
        directory: URL,
        environment: PackEnvironment,
        events: @escaping @Sendable (PackEvent) -> Void = { _ in }
    ) throws(PackError) {
        self.directory = directory
        layout = PackLayout(root: directory.standardizedFileURL.path(percentEncoded: false))
        var environment = environment
        environment.fileSystem = environment.fileSystem.confined(to: layout.root)
        self.environment = environment
        state = Mutex(State())
        listeners.withLock { $0.append(events) }
        try open()
    }

    /// The modules that have packs, by name.
    public var modules: [InstalledModule] {
        let records = state.withLock { $0.records }
        return records.keys.sorted().compactMap { module in records[module].map { describe(module, $0) } }
    }

    /// A module with its versions; nil when nothing was ever installed for it.
    public func module(_ module: ModuleID) -> InstalledModule? {
        state.withLock { $0.records[module] }.map { describe(module, $0) }
    }

    /// Whether a pack holds the file of a URL and answers now; the query does not matter.
    ///
    /// Looks at memory alone: a file that was damaged on disk and not asked for since is still counted.
    public func canServeOffline(_ url: URL) -> Bool { entry(for: url) != nil }

    /// The file behind a URL and the folder that may be read with it, for those who load files themselves.
    ///
    /// The file may have been damaged since it was installed; it is compared with its digest only when it is served
    /// through a session.
    public func fileURL(for url: URL) -> LocalFile? {
        guard let entry = entry(for: url) else { return nil }
        let file = entry.path.split(separator: "/").reduce(entry.pack.root) {
            $0.appendingPathComponent(String($1), isDirectory: false)
        }
        return LocalFile(
            file: file,
            root: entry.pack.root,
            module: entry.pack.module,
            version: entry.pack.manifest.version
        )
    }

    private func entry(for url: URL) -> PackIndex.Entry? {
        CanonicalURL(url.absoluteString).flatMap { url in state.withLock { $0.index }[url] }
    }

    /// Calls `listener` for every event from now on, as the one given to the initialiser.
    package func addListener(_ listener: @escaping @Sendable (PackEvent) -> Void) {
        listeners.withLock { $0.append(listener) }
    }

    /// What is wrong with what is on disk now: the events that reported it, none when all is well.
    ///
    /// The last `damaged` and `unreadable` of a module are in it until a version of it is installed, activated or removed;
    /// what is about no module stays for the rest of the run.
    public var condition: [PackEvent] { troubles.withLock { $0.events } }

    /// Notes that what could not be read of a module can be.
    func settleUnreadable(_ module: ModuleID) { troubles.withLock { $0.settleUnreadable(module) } }

    func tell(_ kind: PackEvent.Kind, _ module: ModuleID?, _ version: PackVersion?, _ detail: String = "") {
        let event = PackEvent(kind: kind, module: module, version: version, detail: detail)
        troubles.withLock { $0.note(event) }
        for listener in listeners.withLock({ $0 }) { listener(event) }
    }

    func describe(_ module: ModuleID, _ version: ModuleRecord.Version) -> InstalledPack {
        InstalledPack(
            module: module,
            version: version.version,
            root: URL(fileURLWithPath: layout.files(of: module, version.folder), isDirectory: true),
            installed: version.installed,
            manifestSHA256: version.manifestSHA256,
            archiveDigests: version.archiveDigests ?? [],
            health: version.health,
            isDamaged: version.isDamaged ?? false
        )
    }

    func describe(_ module: ModuleID, _ record: ModuleRecord) -> InstalledModule {
        InstalledModule(
            module: module,
            active: record.version(inFolder: record.active).map { describe(module, $0) },
            previous: record.version(inFolder: record.previous).map { describe(module, $0) },
            versions: record.versions.sorted { $0.version > $1.version }.map { describe(module, $0) },
            isEnabledByServer: record.isEnabled,
            isEnabledByApp: record.isEnabledByApp,
            minimumVersion: record.lowestUsable
        )
    }
}

/// A file of a pack on disk.
public struct LocalFile: Hashable, Sendable {
    /// The file.
    public let file: URL
    /// The folder that holds all files of its pack: what a web view must be allowed to read.
    public let root: URL
    /// The module it belongs to.
    public let module: ModuleID
    /// The version it belongs to.
    public let version: PackVersion
}
