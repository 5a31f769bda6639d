import Dispatch
public import Foundation
import Synchronization
package import WaystationStorage

/// One extraction of an archive, on several threads of its own.
final class Extraction: Sendable {
    struct Options {
        var fileSystem: any FileSystem = LocalFileSystem()
        var synchronizes = false
        var observe: (@Sendable (ZipEntry) -> (any EntryObserver)?)?
    }

    private struct State {
        var next = 0
        var entriesDone = 0
        var bytesDone = 0
        /// The first failure, or the cancellation: after it, no thread starts or continues any work.
        var failure: (any Error)?
    }

    /// The size from which files come first, so that no thread is left with a large file at the end.
    private static let largeFile = 1 << 20

    private let archive: ZipArchive
    private let target: String
    private let options: Options
    private let reports: OrderedReports<ExtractionProgress>
    private let bytesTotal: Int
    /// The files in the order in which threads take them: large ones first, then the others in the archive's order.
    private let files: [ZipEntry]
    private let state = Mutex(State())

    init(
        of archive: ZipArchive,
        into target: String,
        options: Options,
        progress: @escaping @Sendable (ExtractionProgress) -> Void
    ) {
        self.archive = archive
        self.target = target
        self.options = options
        reports = OrderedReports(to: progress)
        bytesTotal = archive.totalSize
        let files = archive.entries.filter { !$0.isDirectory }
        self.files =
            files.filter { $0.size >= Self.largeFile }.sorted { $0.size > $1.size }
            + files.filter { $0.size < Self.largeFile }.sorted { $0.offset < $1.offset }
    }

    /// Extracts everything, and calls `completion` once, on a thread of its own.
    func start(completion: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        // The queue has its own class: on Linux, concurrent queues of the default class share the threads of Swift's
        // tasks.
        let queue = DispatchQueue(label: "waystation.extraction", qos: .utility, attributes: .concurrent)
        queue.async {
            self.attempt { try self.makeDirectories() }
            let group = DispatchGroup()
            for _ in 0..<min(self.files.count, self.threadCount) {
                queue.async(group: group) { self.attempt { try self.extractFiles() } }
            }
            group.notify(queue: queue) {
                self.attempt { try self.synchronizeDirectories() }
                let failure = self.state.withLock { $0.failure }
                completion(failure.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// One thread for each core.
    ///
    /// With synchronizing there are more, because threads mostly wait for the medium, which can write several files at
    /// once.
    private var threadCount: Int {
        max(1, ProcessInfo.processInfo.activeProcessorCount) * (options.synchronizes ? 4 : 1)
    }

    /// Makes all threads stop at their next piece of work.
    func stop(_ reason: any Error) {
        state.withLock { $0.failure = $0.failure ?? reason }
    }

    private func attempt(_ work: () throws -> Void) {
        do { try work() } catch { stop(error) }
    }

    private func checkStopped() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    private func makeDirectories() throws {
        try checkStopped()
        let status = try options.fileSystem.status(of: target)
        guard try status == nil || status?.kind == .directory && options.fileSystem.contents(of: target).isEmpty else {
            throw ZipError(
                .targetNotFresh,
                "'\(target)' exists and is not an empty directory; extract into a new one, then rename it"
            )
        }
        try options.fileSystem.createDirectory(target)
        let entries = Set(archive.entries.lazy.filter(\.isDirectory).map(\.path))
        // Directories have no bytes, but an entry may still claim deflated data or a checksum.
        for entry in archive.entries where entry.isDirectory { try archive.read(entry) { _ in } }
        for directory in archive.directories {
            try checkStopped()
            try options.fileSystem.createDirectory(target + "/" + directory)
            if entries.contains(directory) { report(directory, bytes: 0, isComplete: true) }
        }
    }

    private func extractFiles() throws {
        try checkStopped()
        let reader = try EntryReader(archive.source)
        while let file = try takeFile() { try extract(file, with: reader) }
    }

    private func takeFile() throws -> ZipEntry? {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            guard state.next < files.count else { return nil }
            state.next += 1
            return files[state.next - 1]
        }
    }

    private func extract(_ entry: ZipEntry, with reader: EntryReader) throws {
        let file = try options.fileSystem.createFile(target + "/" + entry.path)
        var observer = options.observe?(entry)
        var unreported = 0
        try reader.read(entry) { bytes in
            try checkStopped()
            guard let start = bytes.baseAddress else { return }
            observer?.receive(bytes)
            // The file system does not write to these bytes, and releases them before the call returns.
            let lent = UnsafeMutableRawPointer(mutating: start)
            try options.fileSystem.write(Data(bytesNoCopy: lent, count: bytes.count, deallocator: .none), to: file)
            unreported += bytes.count
            if unreported >= Self.largeFile {
                report(entry.path, bytes: unreported, isComplete: false)
                unreported = 0
            }
        }
        try observer?.finish()
        if options.synchronizes { try options.fileSystem.synchronize(file) }
        report(entry.path, bytes: unreported, isComplete: true)
    }

    private func report(_ path: String, bytes: Int, isComplete: Bool) {
        state.withLock { state in
            state.bytesDone += bytes
            state.entriesDone += isComplete ? 1 : 0
            reports.enqueue(
                ExtractionProgress(
                    path: path,
                    entriesDone: state.entriesDone,
                    entriesTotal: archive.entries.count,
                    bytesDone: state.bytesDone,
                    bytesTotal: bytesTotal
                )
            )
        }
        reports.handOn()
    }

    private func synchronizeDirectories() throws {
        guard options.synchronizes else { return }
        for directory in archive.directories.reversed() {
            try checkStopped()
            try options.fileSystem.synchronizeDirectory(target + "/" + directory)
        }
        try checkStopped()
        try options.fileSystem.synchronizeDirectory(target)
    }
}

/// Passes on reports from several threads, one at a time and in order, without holding a lock meanwhile.
///
/// If no other thread is passing on reports, the reporting thread passes on its own and those of other threads until
/// none waits.
final class OrderedReports<Report: Sendable>: Sendable {
    private struct State {
        var waiting: [Report] = []
        var isHandingOn = false
    }

    private let state = Mutex(State())
    private let receive: @Sendable (Report) -> Void

    init(to receive: @escaping @Sendable (Report) -> Void) { self.receive = receive }

    /// Adds a report to the queue.
    ///
    /// Call this where the order is decided, then ``handOn()`` outside of any lock.
    func enqueue(_ report: Report) { state.withLock { $0.waiting.append(report) } }

    /// Passes on the waiting reports, unless another thread is doing so.
    func handOn() {
        var isMine = false
        while let reports = next(isMine: &isMine) { reports.forEach(receive) }
    }

    private func next(isMine: inout Bool) -> [Report]? {
        state.withLock { state in
            guard isMine || !state.isHandingOn else { return nil }
            isMine = true
            state.isHandingOn = !state.waiting.isEmpty
            guard state.isHandingOn else { return nil }
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}

/// Receives the bytes of one file as they are extracted, to digest them without reading the file again.
///
/// An observer is made, called and released on one thread.
package protocol EntryObserver {
    /// Takes the next bytes, which are valid only during the call.
    mutating func receive(_ bytes: UnsafeRawBufferPointer)
    /// Called when the file is complete and its CRC-32 is right; an error fails the extraction.
    mutating func finish() throws
}

/// The progress of an extraction.
public struct ExtractionProgress: Sendable, Hashable {
    /// The path of the entry that was just written, in part or in full.
    public let path: String
    /// How many entries are complete.
    public let entriesDone: Int
    /// How many entries the archive has.
    public let entriesTotal: Int
    /// How many bytes were written so far.
    public let bytesDone: Int
    /// How many bytes there will be at the end.
    public let bytesTotal: Int
}

extension ZipArchive {
    /// Writes all entries into a new directory, using all cores.
    ///
    /// Files are made with mode 0600 and directories with 0700; the archive's own modes and times are not used. No
    /// existing file is ever opened. Memory use is constant: about 200 KiB for each thread. The calling task's thread
    /// is not blocked. When the task is cancelled, work stops soon, and files that were already written stay: remove
    /// the directory after any failure.
    ///
    /// - Parameters:
    ///   - directory: The directory to write into; it must not exist yet, or must be empty.
    ///   - synchronizes: Whether everything is on the medium when this returns. Default: `false`.
    ///   - progress: Called for every complete entry and for each further MiB of large ones, with one report at a time
    ///     and in order, on any thread. The extraction waits for it.
    /// - Throws: ``ZipError`` for the archive, `CancellationError`, or the error of the source or the disk, such as
    ///   `FileError`.
    public func extract(
        into directory: URL,
        synchronizes: Bool = false,
        progress: @escaping @Sendable (ExtractionProgress) -> Void = { _ in }
    ) async throws {
        try directory.checkIsFile(for: "mkdir")
        try await extract(
            into: directory.path(percentEncoded: false),
            using: LocalFileSystem(),
            synchronizes: synchronizes,
            progress: progress
        )
    }

    /// Writes all entries into a new directory of any file system.
    ///
    /// `observe` is called for each file, on the thread that extracts it, and may return an observer of its bytes.
    package func extract(
        into directory: String,
        using fileSystem: any FileSystem,
        synchronizes: Bool = false,
        observe: (@Sendable (ZipEntry) -> (any EntryObserver)?)? = nil,
        progress: @escaping @Sendable (ExtractionProgress) -> Void = { _ in }
    ) async throws {
        let options = Extraction.Options(fileSystem: fileSystem, synchronizes: synchronizes, observe: observe)
        let extraction = Extraction(of: self, into: directory, options: options, progress: progress)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                extraction.start { continuation.resume(with: $0) }
            }
        } onCancel: {
            extraction.stop(CancellationError())
        }
    }
}
