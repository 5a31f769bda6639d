import Dispatch
public import Foundation
import Synchronization
public import Waystation
public import WaystationStorage

/// Writes the exchanges of an interceptor to a file as they end: a WARC, a WACZ or a HAR, without secrets.
///
/// ```swift
/// let recorder = try FileRecorder(to: file, as: .wacz)
/// let interceptor = try Interceptor {
///     $0.rules = rules
///     $0.recorder = recorder
/// }
/// let session = URLSession(configuration: .default.intercepted(by: interceptor))
/// let (page, _) = try await session.data(from: url)
/// try await recorder.finish()
/// ```
///
/// A queue of the recorder's own compresses and writes the file. Of the bodies that wait for the queue, 16 MiB
/// are in memory, and the others in a temporary file beside the file. The file gets its name by ``finish()``; a recorder
/// that is released before leaves no file. Any thread, and several interceptors at once, may use a recorder.
public final class FileRecorder: ExchangeRecorder {
    /// The file, and how far it is written; only the queue changes them.
    private struct Progress: ~Copyable {
        var output: RecordingOutput?
        var count = 0
        var failure: (any Error)?
    }

    /// The secrets that are left out.
    public let redaction: Redaction
    /// How many bytes of one body are written.
    public let bodyLimit: Int
    private let waiting: WaitingBodies
    private let queue = DispatchQueue(label: "waystation.file-recorder", qos: .utility)
    private let progress: Mutex<Progress>

    /// Begins a file.
    ///
    /// - Parameters:
    ///   - file: The file; if it exists, it is replaced when the recording is finished.
    ///   - format: The format of the file.
    ///   - redaction: The secrets that are left out.
    ///   - maximumBodySize: How much of one body is written; 64 MiB by default, as much as an import reads. A body that
    ///     is written only in part is marked so, and is not imported. Each load holds its body in memory up to its end.
    /// - Throws: ``RecordingError`` when the URL is not a file URL, or the file cannot be made.
    public init(
        to file: URL,
        as format: RecordingFormat,
        redaction: Redaction = .standard,
        maximumBodySize: ByteCount = .mebibytes(64)
    ) throws {
        self.redaction = redaction
        bodyLimit = maximumBodySize.bytes
        waiting = WaitingBodies(beside: file, maximumInMemory: 16 << 20)
        let created = Date()
        progress = try Mutex(Progress(output: RecordingOutput(file, as: format, created: created)))
    }

    /// Writes an exchange.
    public func exchangeDidEnd(_ exchange: RecordedExchange) {
        var exchange = exchange
        let body = exchange.body.map { waiting.keep($0) }
        exchange.body = nil
        queue.async { [self, exchange] in
            defer { if let body { waiting.release(body) } }
            progress.withLock { progress in
                guard progress.failure == nil, let output = progress.output else { return }
                do {
                    if try output.append(exchange, body: body, redaction) { progress.count += 1 }
                } catch {
                    progress.failure = error
                    // The unfinished file is removed.
                    progress.output = nil
                }
            }
        }
    }

    /// Writes the exchanges that have ended so far, and gives the file its name.
    ///
    /// Exchanges that end later are not written.
    ///
    /// - Returns: How many exchanges the file has.
    /// - Throws: ``RecordingError`` when the file cannot be written; no file is left then.
    @discardableResult
    public func finish() async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(
                    with: Result {
                        try progress.withLock { progress in
                            if let failure = progress.failure { throw failure }
                            defer { progress.output = nil }
                            do { try progress.output?.finish() } catch {
                                // Another call must not report a file that does not exist.
                                progress.failure = error
                                throw error
                            }
                            return progress.count
                        }
                    }
                )
            }
        }
    }
}

/// The bodies that wait to be written: in memory as long as there is room, and else in a temporary file.
private final class WaitingBodies: Sendable {
    private struct State {
        var bytesInMemory = 0
        var file: OpenFile?
        var fileLength = 0
        var countInFile = 0
    }

    private let path: String
    private let limit: Int
    private let fileSystem = LocalFileSystem()
    private let state = Mutex(State())

    init(beside file: URL, maximumInMemory limit: Int) {
        path = OutputFile.temporaryPath(beside: file)
        self.limit = limit
    }

    /// Keeps a body until it is released.
    func keep(_ body: Data) -> any ByteSource {
        state.withLock { state in
            // A body that cannot be written to the disk stays in memory, so that it is not lost.
            if body.count > limit - state.bytesInMemory, let spooled = try? spool(body, &state) { return spooled }
            state.bytesInMemory += body.count
            return DataSource(body)
        }
    }

    /// Gives up a body that was written.
    func release(_ body: any ByteSource) {
        state.withLock { state in
            guard body is SlicedSource else { return state.bytesInMemory -= body.length }
            state.countInFile -= 1
            guard state.countInFile == 0, let file = state.file else { return }
            guard (try? fileSystem.truncate(file, to: 0)) != nil else { return }
            state.fileLength = 0
        }
    }

    private func spool(_ body: Data, _ state: inout State) throws -> any ByteSource {
        let file: OpenFile
        if let open = state.file {
            file = open
        } else {
            _ = try fileSystem.createFile(path)
            file = try fileSystem.openFileForAppending(path)
            // Its space is free as soon as it is closed, even if the process is killed.
            try fileSystem.removeFile(path)
            state.file = file
        }
        let start = state.fileLength
        do { try fileSystem.write(body, to: file) } catch {
            try fileSystem.truncate(file, to: start)
            throw error
        }
        let spooled = SlicedSource(try FileSource(file), start..<start + body.count)
        state.fileLength += body.count
        state.countInFile += 1
        return spooled
    }
}
