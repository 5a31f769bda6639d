import Dispatch
public import Foundation
import Synchronization
import WaystationHTTP
import WaystationStorage

/// The installed packs: complete versions of modules, one of which is active in each module.
///
/// ```swift
/// let packs = try PackLibrary(directory: caches.appending(path: "packs"))
/// if packs.module(shop) == nil { try await packs.install(zip: bundled) }  // at the first start
/// if let local = packs.fileURL(for: home) { load(local.file, readAccess: local.root) }
/// ```
///
/// **A version is installed completely or not at all.** It is written to a staging folder, synchronised to the disk and
/// renamed into place; then its module's record names it, which is replaced by a rename. After a kill or a power cut at
/// any moment, the next start finds the old state or the new one. The previous version is kept for
/// ``rollBack(_:version:reason:retryingAfter:)``.
///
/// **No file is served that differs from its manifest**: each is compared with its SHA-256 when it is first used.
///
/// **Threads.** All members may be called from any thread. A look-up only reads memory. Changes are made one at a time,
/// even if several processes share one directory. A process sees the changes of others when it makes a change itself or
/// calls ``refresh()``. A change whose task is cancelled while it copies, unpacks, patches or compares ends soon with
/// the code `cancelled` and leaves nothing behind; once the move into place has begun, the change is completed. Work
/// that waits for the disk runs on separate threads, not on Swift's.
public final class PackLibrary: Sendable {
    /// The directory that holds the packs; created if missing, with access for its owner only.
    public let directory: URL

    let environment: PackEnvironment
    let layout: PackLayout
    let state: Mutex<State>
    /// The queue that makes changes one at a time.
    let changes = DispatchQueue(label: "Waystation.packs")
    private let troubles = Mutex(PackCondition())
    let listeners = Listeners<PackEvent>()

    struct State: Sendable {
        var records: [ModuleID: ModuleRecord] = [:]
        var packs: [ModuleID: ActivePack] = [:]
        var index = PackIndex()
        /// The start times of the trials that this process has seen, by its monotonic clock.
        var trials: [Trial: Duration] = [:]
        /// Damaged files that have been reported.
        var toldDamage: Set<String> = []
    }

    /// Opens a library and reads its records.
    ///
    /// Reads one record and one manifest for each module; costs a few milliseconds.
    ///
    /// - Parameters:
    ///   - directory: The directory of the packs; nothing else should be in it.
    ///   - now: The time of day, for tests.
    ///   - clock: Measures how long a version on trial runs, for tests: a clock that does not jump when the time of day
    ///     is set.
    ///   - events: Called with each event, on the thread that caused it, which waits; move longer work elsewhere.
    /// - Throws: ``PackError`` when the URL is not a file URL, the directory cannot be created or read, and when it, or
    ///   something in it that the library uses, is a symbolic link, belongs to another user or may be written to by
    ///   others. A damaged module is not an error: it is reported as an event, and its previous version becomes active,
    ///   if there is one.
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
        if let problem = directory.fileURLProblem {
            throw PackError(.invalidArgument, "the library's directory \(problem)")
        }
        self.directory = directory
        layout = PackLayout(root: directory.standardizedFileURL.path(percentEncoded: false))
        var environment = environment
        environment.fileSystem = environment.fileSystem.confined(to: layout.root)
        self.environment = environment
        state = Mutex(State())
        listeners.add(events)
        try open()
    }

    /// The modules that have packs, sorted by name.
    public var modules: [InstalledModule] {
        let records = state.withLock { $0.records }
        return records.keys.sorted().compactMap { module in records[module].map { describe(module, $0) } }
    }

    /// A module and its versions; nil when it is unknown.
    public func module(_ module: ModuleID) -> InstalledModule? {
        state.withLock { $0.records[module] }.map { describe(module, $0) }
    }

    /// Whether a pack can answer a URL now; the query is ignored.
    ///
    /// Only reads memory: the result is also true for a file that was damaged on disk and not requested since.
    public func canServeOffline(_ url: URL) -> Bool { entry(for: url) != nil }

    /// The file for a URL and the folder to allow reading with it, for apps that load files themselves.
    ///
    /// The file may have been damaged since it was installed: files are compared with their digests only when they are
    /// served through a session.
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

    /// The present problems of the library's files, as the events that reported them; empty if the files have no problem.
    ///
    /// The last `damaged` and `unreadable` events of a module stay until a version of it is installed, activated or
    /// removed; events without a module stay for the rest of the run.
    public var condition: [PackEvent] { troubles.withLock { $0.events } }

    /// Removes the problem that a module could not be read, since it could be now.
    func settleUnreadable(_ module: ModuleID) { troubles.withLock { $0.settleUnreadable(module) } }

    /// A number of files, as events have it.
    static func count(_ files: Int) -> String { files == 1 ? "1 file" : "\(files) files" }

    func tell(_ kind: PackEvent.Kind, _ module: ModuleID?, _ version: PackVersion?, _ detail: String = "") {
        let event = PackEvent(kind: kind, module: module, version: version, detail: detail)
        troubles.withLock { $0.note(event) }
        listeners.report(event)
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
    /// The folder that holds all files of the pack; a web view must be allowed to read it.
    public let root: URL
    /// The module that the file belongs to.
    public let module: ModuleID
    /// The version that the file belongs to.
    public let version: PackVersion
}

extension PackLibrary {
    /// Installs a copy of a folder's files.
    ///
    /// A manifest in it (`waystation-pack.json`) must match its files; without one, `description` gives the pack's
    /// properties.
    ///
    /// - Parameters:
    ///   - folder: The folder.
    ///   - description: The pack's properties if the folder has no manifest; a manifest takes precedence.
    ///   - isActivated: Whether the version becomes the active one; true by default.
    /// - Returns: The installed version.
    /// - Throws: ``PackError`` when there is neither a manifest nor a description, when a file does not match the
    ///   manifest, when the folder holds links or special files, when the disk fails, and when the task is cancelled
    ///   before the version is moved into place. Nothing is changed then, and nothing is left of the copy.
    @discardableResult
    public func install(
        folder: URL,
        as description: PackDescription? = nil,
        activating isActivated: Bool = true
    ) async throws(PackError) -> InstalledPack {
        let source = folder.path(percentEncoded: false).trimmingTrailingSlash
        return try await BlockingWork.run { [self] () throws(PackError) in
            let staged = try await stage(folder: source, as: description)
            return try await commit(staged, activating: isActivated, onTrial: false)
        }
    }

    private func stage(folder source: String, as description: PackDescription?) async throws(PackError) -> StagedPack {
        try await onDisk("copying \(source)") {
            let staging = try PackStaging(in: layout, environment.fileSystem)
            let paths = try environment.fileSystem.filePaths(below: source).filter { $0 != PackManifest.fileName }
            // An empty pack would take the pages of the previous version away.
            guard !paths.isEmpty else {
                throw PackError(.damaged, "\(source) is empty, it has no files: check the path")
            }
            let files = Mutex<[PackedFile]>([])
            try await BlockingWork.forEach(paths) { path in
                let original = try FileSource(self.environment.fileSystem.openFile("\(source)/\(path)"))
                let copied = try staging.copy(original, to: path)
                files.withLock { $0.append(PackedFile(path: path, size: copied.size, sha256: copied.sha256)) }
            }
            let json = try environment.fileSystem.readFile(
                "\(source)/\(PackManifest.fileName)",
                limit: PackManifest.maximumSize
            )
            return try stage(staging, json: json, found: files.withLock { $0 }, description)
        }
    }

    /// Compares the files with the pack's manifest, or makes a manifest for them, and seals the version.
    func stage(
        _ staging: PackStaging,
        json: Data?,
        found: [PackedFile],
        _ description: PackDescription?
    ) throws -> StagedPack {
        if let json {
            let manifest = try PackManifest(json: json)
            try manifest.checkListing(found)
            try staging.seal(json)
            return StagedPack(staging: staging, manifest: manifest, json: json)
        }
        guard let description else {
            throw PackError(
                .invalidManifest,
                """
                the pack has no \(PackManifest.fileName): build it with one, or state its module, version and base URLs \
                (in code as a PackDescription, for the tool with --module, --pack-version and --base-url)
                """
            )
        }
        let manifest = try description.manifest(of: found)
        let json = try manifest.json()
        try staging.seal(json)
        return StagedPack(staging: staging, manifest: manifest, json: json)
    }

    /// Runs work that waits for the disk away from Swift's threads, and converts its errors.
    func blocking<Value: Sendable>(
        _ task: String,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(PackError) -> Value {
        try await BlockingWork.run { [self] () throws(PackError) in try await onDisk(task, body) }
    }
}

extension PackManifest {
    /// Compares the files of a pack with the list in its manifest.
    ///
    /// - Throws: ``PackError`` that names the first file that is missing, differs or is not listed.
    func checkListing(_ found: [PackedFile]) throws(PackError) {
        var rest = Dictionary(found.map { ($0.path, $0) }) { first, _ in first }
        for file in files {
            guard let there = rest.removeValue(forKey: file.path) else {
                throw PackError(
                    .damaged,
                    "\(file.path.quoted()) is in the manifest of \(module) \(version) but not in the pack"
                )
            }
            guard there.size == file.size, there.sha256 == file.sha256 else {
                throw PackError(
                    .damaged,
                    "\(file.path.quoted()) does not match the manifest of \(module) \(version): rebuild the pack, "
                        + "or fetch it again"
                )
            }
        }
        if let extra = rest.keys.min() {
            throw PackError(
                .damaged,
                "\(extra.quoted()) is in the pack but not in the manifest of \(module) \(version)"
            )
        }
    }
}

/// The current faults of a library's files: events that reported a fault, until a later event shows that it is gone.
struct PackCondition: Sendable {
    /// The maximum number of events that belong to no module.
    private static let limit = 16

    private(set) var events: [PackEvent] = []

    /// Adds an event that reports a fault; events that show a module's faults as gone remove that module's.
    mutating func note(_ event: PackEvent) {
        switch event.kind {
        case .damaged, .unreadable:
            events.removeAll {
                $0.kind == event.kind && $0.module == event.module
                    && (event.module != nil || $0.detail == event.detail)
            }
            if event.module == nil, events.count(where: { $0.module == nil }) >= Self.limit { return }
            events.append(event)
        case .installed, .activated, .removed:
            guard let module = event.module else { return }
            events.removeAll { $0.module == module }
        default: break
        }
    }

    /// Removes the unreadable event of a module, whose files can be read again.
    mutating func settleUnreadable(_ module: ModuleID) {
        events.removeAll { $0.kind == .unreadable && $0.module == module }
    }
}
