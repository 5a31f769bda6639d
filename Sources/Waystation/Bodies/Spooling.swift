import Dispatch
import Synchronization
public import WaystationFoundation
public import WaystationStorage

/// Reads the body stream of a request to its end, so that the request can be sent more than once.
///
/// The app's stream may wait in `read` for any length of time, so it is read on a thread of its own. A cancel or a
/// time-out ends the spooling at once; the thread ends when `read` returns.
final class Spooling: Sendable {
    private struct State {
        var completion: (@Sendable (Result<URLRequest, URLError>) -> Void)?
        /// The number of parts that have arrived.
        var parts = 0
    }

    private static let partSize = 64 << 10

    private let url: URL?
    private let timeout: TimeInterval
    private let schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    private let state: Mutex<State>

    private init(
        _ url: URL?,
        _ timeout: TimeInterval,
        _ schedule: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void,
        _ completion: @escaping @Sendable (Result<URLRequest, URLError>) -> Void
    ) {
        self.url = url
        self.timeout = timeout
        self.schedule = schedule
        state = Mutex(State(completion: completion))
    }

    /// Starts reading the stream.
    ///
    /// - Parameters:
    ///   - request: The request with its stream.
    ///   - spool: The settings for storing the bytes.
    ///   - timeout: The longest silence of the stream, in seconds; the silence is noticed after at most twice that
    ///     time.
    ///   - schedule: Runs an action after a delay.
    ///   - completion: Called once, on any thread, with a request that can be sent more than once, or with an error;
    ///     not called after a cancel.
    /// - Returns: The spooling, which can be cancelled.
    static func start(
        _ request: URLRequest,
        _ spool: BodySpool,
        timeout: TimeInterval,
        schedule: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void,
        completion: @escaping @Sendable (Result<URLRequest, URLError>) -> Void
    ) -> Spooling {
        let spooling = Spooling(request.url, timeout, schedule, completion)
        spooling.watch(since: 0)
        Thread.detachNewThread {
            spooling.end(spooling.read(request, SpoolWriter(spool)))
        }
        return spooling
    }

    /// Stops the spooling; the completion is not called any more.
    func cancel() {
        // The completion is released outside of the lock.
        _ = state.withLock { $0.completion.take() }
    }

    private func end(_ result: Result<URLRequest, URLError>?) {
        guard let result else { return }
        state.withLock { $0.completion.take() }?(result)
    }

    /// Reads the stream to its end; nil when the spooling was cancelled or timed out.
    private func read(_ request: URLRequest, _ writer: SpoolWriter) -> Result<URLRequest, URLError>? {
        guard let stream = request.httpBodyStream else { return .success(request) }
        if stream.streamStatus == .notOpen { stream.open() }
        defer { stream.close() }
        var writer = writer
        var buffer = [UInt8](repeating: 0, count: Self.partSize)
        while state.withLock({ $0.completion != nil }) {
            let count = buffer.withUnsafeMutableBufferPointer { bytes in
                bytes.baseAddress.map { stream.read($0, maxLength: bytes.count) } ?? -1
            }
            guard count >= 0 else { return .failure(failure(of: stream)) }
            guard count > 0 else { return .success(writer.finish(request)) }
            state.withLock { $0.parts += 1 }
            do {
                try writer.append(Data(buffer[..<count]))
            } catch {
                let message = "the body stream of \(url?.shown ?? "a request") cannot be stored: \(error)"
                return .failure(URLError(.cannotCreateFile, failing: url, message, underlying: error))
            }
        }
        return nil
    }

    private func failure(of stream: InputStream) -> URLError {
        // Foundation ends the process when `streamError` is read of a stream that has no error.
        let cause = stream.streamStatus == .error ? stream.streamError : nil
        let reason = cause.map { "\($0)" } ?? "the stream was already read or closed"
        return URLError(
            .requestBodyStreamExhausted,
            failing: url,
            "the body stream of \(url?.shown ?? "a request") cannot be read, and nothing was sent: \(reason)",
            underlying: cause
        )
    }

    /// Ends the spooling with a time-out error when no part has arrived since `parts` was counted.
    private func watch(since parts: Int) {
        guard timeout > 0, timeout < Double(Int32.max) else { return }
        schedule(.seconds(timeout)) { [weak self] in
            guard let self, let (isWaiting, now) = state.withLock({ ($0.completion != nil, $0.parts) }) as (Bool, Int)?,
                isWaiting
            else { return }
            guard now == parts else { return watch(since: now) }
            let message = "the body stream gave no bytes for \(timeout) s, its request's time-out; nothing was sent"
            end(.failure(URLError(.timedOut, failing: url, message)))
        }
    }
}

/// A stream that reads a spooled body once from its beginning.
///
/// A request keeps the stream that it was given, and ``rewound`` makes a fresh one from it. A read waits for bytes that
/// have not arrived yet. Foundation reads the stream on the queue that all sessions share, and gets it only if it
/// ``isWhole``: a read then takes bytes from a local file and never waits.
final class SpooledStream: InputStream, RewindableStream {
    private struct State {
        var offset = 0
        var status = Stream.Status.notOpen
        var error: (any Error)?
    }

    private let body: SpooledBody
    private let state = Mutex(State())

    init(_ body: SpooledBody) {
        self.body = body
        super.init(data: Data())
    }

    var rewound: InputStream { SpooledStream(body) }

    var length: Int { body.length }

    var isWhole: Bool { body.isWhole }

    func whenReadable(_ work: @escaping @Sendable () -> Void) {
        body.whenReadable(at: state.withLock(\.offset), work)
    }

    func whenWhole(_ work: @escaping @Sendable () -> Void) { body.whenWhole(work) }

    override func open() { state.withLock { if $0.status == .notOpen { $0.status = .open } } }

    override func close() { state.withLock { $0.status = .closed } }

    override var streamStatus: Stream.Status { state.withLock { $0.status } }

    override var streamError: (any Error)? { state.withLock { $0.error } }

    override var hasBytesAvailable: Bool { state.withLock { $0.offset < body.length && $0.status == .open } }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        let (status, offset) = state.withLock { ($0.status, $0.offset) }
        // A stream without an error ends with 0 bytes, as often as it is read.
        guard status == .open else { return status == .atEnd ? 0 : -1 }
        do {
            let data = try body.read(at: offset, count: length)
            data.copyBytes(to: buffer, count: data.count)
            state.withLock { state in
                state.offset += data.count
                if state.offset >= body.length { state.status = .atEnd }
            }
            return data.count
        } catch {
            state.withLock { state in
                state.status = .error
                state.error = error
            }
            return -1
        }
    }
}

/// How the body streams of data tasks are stored, so that they can be sent more than once.
///
/// A stream can be read once, but after a redirect with 307 or 308, after a server's request for credentials and after
/// a dropped connection the body must be sent again. So the whole stream is read before any part of it is sent: into
/// memory if the body has at most ``memory`` bytes, otherwise into a file without a name that is deleted with the load.
/// Each exchange then sends the whole body.
///
/// The stream is read on a thread of its own. If the stream reports an error, or delivers no byte for as long as the
/// request's time-out, the load ends with an error and nothing is sent. To send bodies while they are still being
/// written, set ``Interceptor/Configuration/bodySpool`` to nil.
public struct BodySpool: Sendable {
    /// The largest body that is kept in memory; 1 MiB by default.
    public var memory: ByteCount
    /// The directory for larger bodies.
    ///
    /// They are stored in files of mode 0600 whose names are removed at once. The default is the system's directory for
    /// temporary files.
    public var directory: URL
    package var fileSystem: any FileSystem = LocalFileSystem()

    /// Makes a spool.
    public init(
        memory: ByteCount = .mebibytes(1),
        directory: URL = FileManager.default.temporaryDirectory
    ) {
        self.memory = memory
        self.directory = directory
    }
}

/// Collects a body: its bytes are kept in memory, and in a file once they exceed the spool's memory limit.
package struct SpoolWriter {
    private enum Place {
        case memory(Data)
        case file(SpooledBody)
    }

    private let spool: BodySpool
    private var place = Place.memory(Data())

    package init(_ spool: BodySpool) { self.spool = spool }

    private var fileSystem: any FileSystem { spool.fileSystem }

    package mutating func append(_ part: Data) throws {
        switch place {
        case .memory(var data) where data.count + part.count <= spool.memory.bytes:
            // Releases the other reference first; otherwise each part would copy all bytes so far.
            place = .memory(Data())
            data.append(part)
            place = .memory(data)
        case .memory(let data):
            let body = SpooledBody(try makeFile(), fileSystem)
            try body.append(data)
            try body.append(part)
            place = .file(body)
        case .file(let body):
            try body.append(part)
        }
    }

    private func makeFile() throws -> OpenFile {
        try spool.directory.checkIsFile(for: "create")
        let path = spool.directory.appending(path: "waystation-body-\(RandomName.make())").path
        let file = try fileSystem.createFile(path)
        try fileSystem.removeFile(path)
        return file
    }

    /// The request with the written body.
    package func finish(_ request: URLRequest) -> URLRequest {
        switch place {
        case .memory(let data): return request.carrying(data)
        case .file(let body):
            body.end()
            return request.carrying(body)
        }
    }

    /// The request with a body that is still being written; nil as long as the body is in memory.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - length: The length that the whole body will have, in bytes.
    /// - Returns: The request, and its body.
    package func begin(_ request: URLRequest, length: Int) -> (request: URLRequest, body: SpooledBody)? {
        guard case .file(let body) = place else { return nil }
        body.expect(length: length)
        return (request.carrying(body), body)
    }
}

extension URLRequest {
    /// The request with a spooled body.
    func carrying(_ body: SpooledBody) -> URLRequest {
        var request = framedByTransport
        request.httpBodyStream = SpooledStream(body)
        return request
    }
}

/// The bytes of a body in an open file, which has no name any more unless it is the app's.
///
/// They can be read while the body is still being written. The file disappears when its last reader is gone.
package final class SpooledBody: Sendable {
    private struct State {
        /// The length of the whole body; nil as long as it is not known.
        var length: Int?
        var written = 0
        /// The number of bytes that a reader has got; those of a later reader of the same bytes do not count again.
        var taken = 0
        /// The reason why the rest will never be written.
        var failure: (any Error)?
        /// Work of readers that have all bytes so far.
        var readers: [@Sendable () -> Void] = []
        /// Work that needs the whole body.
        var waiting: [@Sendable () -> Void] = []
        /// Work of the writer, which waits for readers.
        var writers: [@Sendable () -> Void] = []

        var isWhole: Bool { written == length }
        var isOver: Bool { isWhole || failure != nil }

        /// Takes the work that need not wait any longer.
        mutating func takeDue(hasNewBytes: Bool) -> [@Sendable () -> Void] {
            var due: [@Sendable () -> Void] = []
            if mayWrite {
                due += writers
                writers = []
            }
            if hasNewBytes || isOver {
                due += readers
                readers = []
            }
            if isOver {
                due += waiting
                waiting = []
            }
            return due
        }

        var mayWrite: Bool { isOver || !waiting.isEmpty || written - taken <= SpooledBody.lead }
    }

    /// How far the writer may be ahead of the readers, in bytes, before it waits for them.
    private static let lead = 1 << 20

    private let file: OpenFile
    private let fileSystem: any FileSystem
    private let state: Mutex<State>

    /// Makes a body without bytes, which are to be written into the file.
    init(_ file: OpenFile, _ fileSystem: any FileSystem) {
        self.file = file
        self.fileSystem = fileSystem
        state = Mutex(State())
    }

    /// Makes a body of the bytes that a file has.
    ///
    /// - Throws: ``FileError`` if it is no regular file.
    init(reading file: OpenFile, _ fileSystem: any FileSystem) throws {
        self.file = file
        self.fileSystem = fileSystem
        let length = try FileSource(file).length
        state = Mutex(State(length: length, written: length))
    }

    // MARK: - Writing

    /// Appends bytes; only one thread at a time may write.
    func append(_ part: Data) throws {
        try fileSystem.write(part, to: file)
        change(hasNewBytes: !part.isEmpty) { $0.written += part.count }
    }

    /// Sets the length that the whole body will have, in bytes.
    func expect(length: Int) { change { $0.length = length } }

    /// The bytes so far are the whole body, unless another length is expected.
    func end() { change { $0.length = $0.length ?? $0.written } }

    /// Reads of the rest fail from now on, unless the body is whole.
    package func stop(_ error: any Error) { change { if !$0.isWhole { $0.failure = error } } }

    /// Runs work as soon as the readers have most of the bytes so far: at once or later, on any thread.
    package func whenTaken(_ work: @escaping @Sendable () -> Void) { change { $0.writers.append(work) } }

    // MARK: - Reading

    /// The length of the whole body, in bytes; the number of bytes so far if it is not known yet.
    var length: Int { state.withLock { $0.length ?? $0.written } }

    var isWhole: Bool { state.withLock(\.isWhole) }

    /// Reads up to `count` bytes at an offset; waits for bytes that are not yet written, and returns none at the end.
    func read(at offset: Int, count: Int) throws -> Data {
        let written = try waitForBytes(at: offset)
        let data = try fileSystem.read(file, at: offset, count: min(count, written - offset))
        guard !data.isEmpty || offset >= written else { throw FileError("read", file.path, code: EIO) }
        change { $0.taken = max($0.taken, offset + data.count) }
        return data
    }

    /// Waits until there are bytes at an offset, or the body has ended there.
    ///
    /// - Returns: The number of bytes so far.
    private func waitForBytes(at offset: Int) throws -> Int {
        let semaphore = DispatchSemaphore(value: 0)
        whenReadable(at: offset) { semaphore.signal() }
        semaphore.wait()
        return try state.withLock { state in
            if let failure = state.failure, offset >= state.written { throw failure }
            return state.written
        }
    }

    /// Runs work as soon as there are bytes at an offset, or none will follow: at once or later, on any thread.
    func whenReadable(at offset: Int, _ work: @escaping @Sendable () -> Void) {
        let waits = state.withLock { state in
            guard state.written <= offset, !state.isOver else { return false }
            state.readers.append(work)
            return true
        }
        if !waits { work() }
    }

    /// Runs work as soon as the whole body is there, or will never be: at once or later, on any thread.
    func whenWhole(_ work: @escaping @Sendable () -> Void) { change { $0.waiting.append(work) } }

    private func change(hasNewBytes: Bool = false, _ body: (inout State) -> Void) {
        let due = state.withLock { state in
            body(&state)
            return state.takeDue(hasNewBytes: hasNewBytes)
        }
        for work in due { work() }
    }
}
