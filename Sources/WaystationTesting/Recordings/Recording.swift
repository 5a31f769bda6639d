import Synchronization
public import Waystation
public import WaystationFoundation
public import WaystationRecording
import WaystationStorage

/// Records the exchanges of a test in a file, and answers by the file from then on.
///
/// ```swift
/// let recording = try Recording(file)
/// let client = WeatherClient(session: try recording.makeSession())
/// #expect(try await client.celsius() == 21)
/// try recording.verify()
/// ```
///
/// The first run needs the network; later ones never reach it. The file is a HAR 1.2, readable in any browser's
/// developer tools; those that Replay and Polly.js have made can be replayed as well. Secrets are left out of requests
/// and responses before anything is written, and requests are compared without them. Equal requests are answered in the
/// order in which they were recorded, each entry once. A request without an entry fails with an error that names the
/// nearest entries, and ``verify()`` reports it once more.
///
/// The environment variable `WAYSTATION_RECORD` overrides the mode in code: `once`, `replay`, `record` or `passthrough`,
/// or a method and a URL pattern, such as `GET https://api.example/users/*`, whose entries alone are recorded again.
///
/// Bodies that are not text, and long ones, are in files of a folder beside the recording; see ``RecordedBodies``.
///
/// Data tasks, downloads, and uploads from `Data` or files are recorded. All members may be called from any thread. An exchange that
/// is cancelled while it is recorded leaves no entry.
public final class Recording: Sendable {
    private struct State {
        var entries: RecordedEntries
        var failures: [StubError] = []
        /// The secrets of all exchanges of the run, also of those that were cancelled.
        var secrets: RunSecrets
        /// The number of exchanges that were recorded.
        var recorded = 0
        /// The number of recorded exchanges that were written, or refused.
        var saved = 0
        /// The file as it was when this recording last read or wrote it.
        var file: FileVersion?
        /// Whether the file that was there at the beginning is still in its place.
        var hasPredecessor: Bool
        /// Whether the test failed for another reason.
        var hasTestFailed = false
        /// Whether `save()` or `verify()` was called.
        var wasSaved = false

        /// Whether the file keeps its previous entries, because those of this run are not all there.
        var keepsPredecessor: Bool { hasPredecessor && (hasTestFailed || !failures.isEmpty) }
    }

    /// The file.
    public let file: URL
    /// The mode that is in effect: `replay` or `record` in place of `once`.
    public let mode: RecordingMode
    /// Notes on the recording that do not fail a test, such as that it has expired.
    public let warnings: [String]
    private let comparison: RequestComparison
    private let bodies: RecordedBodies
    private let network: any Transport
    private let again: StubEntry?
    private let now: @Sendable () -> Date
    private let state: Mutex<State>
    /// Held while files are written: a call does not return before another one has written the same entries, and two
    /// recordings do not replace the same file at once.
    private static let saving = Mutex(())

    /// Opens a recording.
    ///
    /// - Parameters:
    ///   - file: The HAR file. Its folder is made when something is recorded.
    ///   - mode: Whether requests are recorded, replayed or passed on; `once` by default.
    ///   - parts: The parts that a request and its entry have in common; the method and the URL by default.
    ///   - redaction: The secrets that are left out; credentials, cookies and tokens by default.
    ///   - bodies: The place of the bodies of responses; files for long ones and those that are not text by default.
    ///   - expiry: The age of the oldest entry from which on ``warnings`` asks to record again; nil, the default, for
    ///     no limit.
    ///   - network: The network; Foundation's own by default. It gets each request with the session's cookies.
    /// - Throws: ``StubError`` with the code `missingRecording`, `damagedRecording` or `invalidOverride`.
    public convenience init(
        _ file: URL,
        mode: RecordingMode = .once,
        matching parts: [RecordedPart] = [.method, .url],
        redaction: Redaction = .standard,
        bodies: RecordedBodies = .automatic,
        expiresAfter expiry: Duration? = nil,
        network: any Transport = URLSessionTransport(configuration: .ephemeral)
    ) throws {
        try self.init(
            file,
            mode,
            matching: parts,
            redaction: redaction,
            bodies: bodies,
            expiresAfter: expiry,
            network: network,
            override: ProcessInfo.processInfo.environment[RecordingOverride.variable],
            now: { Date() }
        )
    }

    package init(
        _ file: URL,
        _ mode: RecordingMode,
        matching parts: [RecordedPart] = [.method, .url],
        redaction: Redaction = .standard,
        bodies: RecordedBodies = .automatic,
        expiresAfter expiry: Duration? = nil,
        network: any Transport,
        override: String?,
        now: @escaping @Sendable () -> Date
    ) throws {
        if let problem = file.fileURLProblem { throw StubError.notAFile(problem) }
        var wanted = mode
        var again: StubEntry?
        switch try Self.override(override) {
        case .mode(let mode)?: wanted = mode
        case .again(let method, let url)?: again = try Self.entry(method, url)
        case nil: break
        }
        let isThere = FileManager.default.fileExists(atPath: file.path(percentEncoded: false))
        if wanted == .once { wanted = isThere ? .replay : .record }
        if wanted == .replay, !isThere { throw StubError.missingRecording(file) }
        let comparison = RequestComparison(parts: parts, redaction: redaction)
        var entries = RecordedEntries([], comparison, now: now())
        var warnings: [String] = []
        if wanted == .replay {
            let archive = try Self.archive(file)
            entries = RecordedEntries(archive.entries, comparison, now: now())
            if let again { entries.markStale { again.takes($0.request) } }
            let oldest = archive.entries.compactMap(\.started).min()
            if let expiry, let oldest, now().timeIntervalSince(oldest) > expiry / .seconds(1) {
                warnings.append(Self.expired(file, oldest))
            }
        }
        self.file = file
        self.mode = wanted
        self.warnings = warnings
        self.comparison = comparison
        self.bodies = bodies
        self.network = network
        self.again = again
        self.now = now
        state = Mutex(
            State(
                entries: entries,
                secrets: RunSecrets(redaction.names),
                file: FileVersion(of: file),
                hasPredecessor: isThere
            )
        )
    }

    private static func override(_ value: String?) throws(StubError) -> RecordingOverride? {
        guard let value, !value.isEmpty else { return nil }
        guard let override = RecordingOverride(value) else { throw .invalidOverride(value) }
        return override
    }

    private static func entry(_ method: String, _ url: String) throws(StubError) -> StubEntry {
        let stub = Stub(.method(method, url))
        do { return try StubEntry(stub) } catch { throw .invalidOverride("\(method) \(url)") }
    }

    private static func archive(_ file: URL) throws(StubError) -> HARArchive {
        do { return try HARArchive(contentsOf: file) } catch { throw .damagedRecording(file, error) }
    }

    private static func expired(_ file: URL, _ oldest: Date) -> String {
        """
        \(file.lastPathComponent) has expired: its oldest entry was recorded at \(oldest.formatted(.iso8601)). Record \
        again with \(RecordingOverride.variable)=record
        """
    }

    // MARK: - Installing

    /// Makes an interceptor that answers every request by the recording.
    ///
    /// - Parameters:
    ///   - rules: Rules that come first, for requests that are not recorded; none by default.
    ///   - faults: Faults of the network on the way; none by default.
    /// - Returns: The interceptor, which keeps the recording.
    /// - Throws: ``Waystation/WaystationError`` if a rule is not valid.
    public func makeInterceptor(rules: [Rule] = [], faults: Faults = .none) throws -> Interceptor {
        try Interceptor.carryingAll(by: faults.applied(to: self), as: "recorded", after: rules)
    }

    /// Makes a session whose requests are answered by the recording.
    ///
    /// - Parameters:
    ///   - configuration: The configuration that the session would otherwise have; `.ephemeral` by default.
    ///   - faults: Faults of the network on the way; none by default.
    /// - Returns: The session, which keeps the recording.
    /// - Throws: ``Waystation/WaystationError`` if the interceptor cannot be made.
    public func makeSession(
        _ configuration: URLSessionConfiguration = .ephemeral,
        faults: Faults = .none
    ) throws -> URLSession {
        URLSession(configuration: configuration.intercepted(by: try makeInterceptor(faults: faults)))
    }

    // MARK: - Results

    /// Writes what was recorded, and checks that every request was answered and every entry was used.
    ///
    /// A file that was there before keeps its entries if a request failed or could not be recorded.
    ///
    /// - Throws: ``StubError`` with all differences, or with the code `unwritableRecording`.
    public func verify() throws(StubError) {
        try write()
        let unused = mode == .replay ? state.withLock(\.entries.unusedNames) : []
        try check(unused.isEmpty ? [] : [.unusedEntries(unused, of: file)])
    }

    /// Writes what was recorded since the last call, with its bodies; does nothing if nothing was.
    ///
    /// After an error the file has its previous contents, and the next call writes all that was recorded.
    ///
    /// A recording that is released writes its file, too, if there was none or if it was written by a call before. A file
    /// of an earlier run is replaced only by a call, since a test that has failed makes none.
    ///
    /// - Throws: ``StubError`` with the code `unwritableRecording`, or with those of the requests that failed if the file
    ///   therefore keeps its previous entries.
    public func save() throws(StubError) {
        try write()
        if state.withLock(\.keepsPredecessor) { try check([]) }
    }

    /// Notes that the test failed, so that the file of an earlier run is not replaced.
    ///
    /// - Returns: A sentence that says so; nil if there is no such file, or nothing to replace it.
    package func keepPredecessor() -> String? {
        state.withLock { state in
            state.hasTestFailed = true
            return state.hasPredecessor && state.recorded > state.saved ? StubError.kept(file) : nil
        }
    }

    /// Throws the errors of the run.
    private func check(_ others: [StubError]) throws(StubError) {
        let (errors, isKept) = state.withLock { ($0.failures + others, $0.keepsPredecessor && $0.recorded > 0) }
        guard let error = StubError.all(errors) else { return }
        throw isKept ? StubError(code: error.code, message: "\(error.message)\n\(StubError.kept(file))") : error
    }

    private func write() throws(StubError) {
        try Self.saving.withLock { _ throws(StubError) in try saveNewEntries() }
    }

    private func saveNewEntries() throws(StubError) {
        let folder = RecordedBodies.folder(of: file)
        state.withLock { $0.wasSaved = true }
        let (new, recorded, secrets) = state.withLock { state in
            (state.recorded > state.saved ? state.entries : nil, state.recorded, state.secrets)
        }
        guard var entries = new else { return }
        // A secret may have become known only after an exchange that contains it, so all are searched for all.
        let leaks = entries.leaks(of: secrets, in: file.deletingLastPathComponent())
        entries.remove(leaks.map(\.place))
        let files = entries.newBodies(bodies, in: folder.lastPathComponent)
        let isKept = state.withLock { state in
            state.entries.remove(leaks.map(\.place))
            state.failures += leaks.map(\.error)
            return state.keepsPredecessor
        }
        let isEmpty = entries.complete.isEmpty && !FileManager.default.fileExists(atPath: path)
        guard !isKept, !isEmpty else { return }
        entries.move(files, into: folder.lastPathComponent)
        let known = state.withLock(\.file)
        do { try write(entries.complete, files, into: folder, over: known) } catch { throw .unwritableRecording(error) }
        let version = FileVersion(of: file)
        state.withLock { state in
            state.entries.move(files, into: folder.lastPathComponent)
            state.saved = recorded
            state.file = version
            state.hasPredecessor = false
        }
    }

    private var path: String { file.path(percentEncoded: false) }

    /// Writes all files under temporary names, and only then replaces those of the previous recording.
    private func write(
        _ entries: [HARArchive.Entry],
        _ files: [BodyFile],
        into folder: URL,
        over known: FileVersion?
    ) throws {
        try? FileManager.default.createDirectory(
            at: files.isEmpty ? file.deletingLastPathComponent() : folder,
            withIntermediateDirectories: true
        )
        do {
            for body in files { try body.write(in: folder) }
            let writer = try HARWriter(file, isIndented: true)
            for entry in entries { try writer.append(entry) }
            try writer.complete()
            guard FileVersion(of: file) == known else { throw RecordingError.replaced(file) }
            for body in files { try body.putInPlace(in: folder) }
            try writer.finish()
        } catch {
            for body in files { body.discard(in: folder) }
            RecordedBodies.removeIfEmpty(folder)
            throw error
        }
        RecordedBodies.removeFiles(in: folder, without: entries)
    }

    deinit {
        let isWritten = state.withLock { $0.wasSaved || !$0.hasPredecessor }
        guard isWritten else { return }
        do { try write() } catch {
            // Nobody is there any more who could get the error.
            try? FileHandle.standardError.write(contentsOf: Data("\(error.message)\n".utf8))
        }
    }
}

extension Recording: Transport {
    /// Answers a request by the recording, or records it.
    public func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        if mode == .passthrough { return network.start(request, receiver: receiver) }
        let asked = StubbedRequest(request)
        var whole = request
        if request.httpBodyStream != nil { whole.httpBody = asked.body }
        switch course(of: whole, asked) {
        case .network(let place):
            noteSecrets(of: whole)
            return network.start(whole, receiver: RecordedExchangeReceiver(whole, place, self, receiver, now: now))
        case .answer(let answer):
            return ScriptedTransport.inVirtualTime { _ in answer }.start(request, receiver: receiver)
        }
    }

    private enum Course {
        case network(place: Int)
        case answer(ScriptedTransport.Answer)
    }

    private func course(of request: URLRequest, _ asked: StubbedRequest) -> Course {
        guard mode == .replay else { return .network(place: state.withLock { $0.entries.reserve() }) }
        let key = comparison.key(of: request)
        let isRecordedAgain = again?.mismatches(asked).isEmpty ?? false
        let failure: StubError
        switch state.withLock({ $0.entries.take(key) }) {
        case .again(let place): return .network(place: place)
        case .exhausted where isRecordedAgain, .unknown where isRecordedAgain:
            return .network(place: state.withLock { $0.entries.reserve() })
        case .entry(let entry):
            do throws(ImportRefusal) {
                return .answer(try entry.answer(request.url, in: file.deletingLastPathComponent(), now: now()))
            } catch {
                failure = .unusableEntry(entry, of: file, error)
            }
        case .exhausted(let count): failure = .exhaustedEntries(asked, count: count, of: file)
        case .unknown(let nearest): failure = .noEntry(asked, nearest: nearest, of: file)
        }
        state.withLock { $0.failures.append(failure) }
        return .answer(ScriptedTransport.Answer([.error(failure.urlError(request.url))]))
    }

    /// Keeps an exchange that was completed, whose body has no secrets any more.
    fileprivate func keep(_ exchange: RecordedExchange, in place: Int) {
        let entry = HARArchive.Entry(exchange, comparison.redaction)
        state.withLock { state in
            state.entries.fill(place, with: entry)
            state.recorded += 1
        }
    }

    /// Notes the secrets of a request, also of one that is not recorded.
    private func noteSecrets(of request: URLRequest) {
        var secrets = RunSecrets(comparison.redaction.names)
        secrets.add(request)
        state.withLock { $0.secrets.formUnion(secrets) }
    }

    /// Notes the secrets of a head, also of one whose exchange is not recorded.
    fileprivate func noteSecrets(of head: ResponseHead) {
        var secrets = RunSecrets(comparison.redaction.names)
        secrets.add(head.fields, setCookies: head.setCookieFields)
        state.withLock { $0.secrets.formUnion(secrets) }
    }

    /// Notes the secrets of a body, also of one that is not recorded.
    ///
    /// - Returns: The body without secrets.
    fileprivate func noteSecrets(of body: Data, with head: ResponseHead) -> Data {
        var secrets = RunSecrets(comparison.redaction.names)
        let body = secrets.add(body, type: head.value(forHTTPHeaderField: "Content-Type") ?? "")
        state.withLock { $0.secrets.formUnion(secrets) }
        return body
    }

    /// Reports that the network failed while an exchange was recorded.
    fileprivate func fail(_ request: URLRequest, _ error: any Error) -> any Error {
        let failure = StubError.cannotRecord(StubbedRequest(request), error)
        state.withLock { $0.failures.append(failure) }
        let code = (error as? URLError)?.code ?? .unknown
        return URLError(code, failing: request.url, failure.message, underlying: failure)
    }
}

extension Recording: ResidentTransport {
    /// Answers a request by an entry whose body is in the recording itself.
    package func residentResponse(to request: URLRequest) -> ResidentResponse? {
        guard mode == .replay else { return nil }
        let key = comparison.key(of: request)
        return state.withLock { $0.entries.takeResident(key) }
    }
}

/// Passes a response on, and keeps it for the recording.
private final class RecordedExchangeReceiver: TransportReceiver {
    private let request: URLRequest
    private let place: Int
    private let recording: Recording
    private let receiver: any TransportReceiver
    private let now: @Sendable () -> Date
    private let begun: Date
    private let received = Mutex<(head: ResponseHead?, answered: Date?, body: Data)>((nil, nil, Data()))

    init(
        _ request: URLRequest,
        _ place: Int,
        _ recording: Recording,
        _ receiver: any TransportReceiver,
        now: @escaping @Sendable () -> Date
    ) {
        self.request = request
        self.place = place
        self.recording = recording
        self.receiver = receiver
        self.now = now
        begun = now()
    }

    func transportDidReceive(_ head: ResponseHead) {
        received.withLock { ($0.head, $0.answered) = (head, now()) }
        recording.noteSecrets(of: head)
        receiver.transportDidReceive(head)
    }

    func transportDidReceive(_ part: Data) {
        received.withLock { $0.body += part }
        receiver.transportDidReceive(part)
    }

    func transportDidSend(_ count: Int64, total: Int64, expected: Int64) {
        receiver.transportDidSend(count, total: total, expected: expected)
    }

    func transportDidEnd(_ error: (any Error)?) {
        let (head, answered, whole) = received.withLock { $0 }
        let body = head.map { recording.noteSecrets(of: whole, with: $0) } ?? whole
        if let error {
            let isCancel = (error as? URLError)?.code == .cancelled
            return receiver.transportDidEnd(isCancel ? error : recording.fail(request, error))
        }
        let ended = now()
        let exchange = RecordedExchange(
            request: request,
            response: head?.response,
            body: body,
            bodyLength: body.count,
            source: .network,
            begun: begun,
            wait: (answered ?? ended).timeIntervalSince(begun),
            duration: ended.timeIntervalSince(begun)
        )
        recording.keep(exchange, in: place)
        receiver.transportDidEnd(nil)
    }
}

/// What shows whether a file was replaced.
private struct FileVersion: Equatable {
    let inode: UInt64?
    let size: UInt64?
    let changed: Date?

    /// Reads the version of a file; nil if the file states no version.
    init?(of file: URL) {
        let path = file.path(percentEncoded: false)
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
        inode = (attributes[.systemFileNumber] as? NSNumber)?.uint64Value
        size = (attributes[.size] as? NSNumber)?.uint64Value
        changed = attributes[.modificationDate] as? Date
    }
}

extension StubEntry {
    /// Whether the stub's pattern takes a recorded request.
    fileprivate func takes(_ request: HARArchive.Request) -> Bool {
        guard let url = URL(string: request.url) else { return false }
        var asked = URLRequest(url: url)
        asked.httpMethod = request.method
        return mismatches(StubbedRequest(asked)).isEmpty
    }
}

extension Route {
    /// A recording, in place of the network.
    ///
    /// ```swift
    /// $0.rules = [.allow("https://api.example/**", via: .recorded(recording))]
    /// ```
    public static func recorded(_ recording: Recording) -> Route { .carried(by: recording, as: "recorded") }

    /// A recording, in place of the network, with faults on the way to it.
    ///
    /// Record without faults: a response that they break off may be missing from the recording.
    ///
    /// - Parameters:
    ///   - recording: The recording.
    ///   - faults: The faults.
    ///   - time: How delays pass; in virtual time by default.
    /// - Returns: The route.
    public static func recorded(_ recording: Recording, faults: Faults, time: DelayTime = .virtual) -> Route {
        .carried(by: faults.applied(to: recording, time: time), as: "recorded(faults)")
    }

    /// A recording in a file, in place of the network; see ``Recording``.
    ///
    /// - Parameters:
    ///   - file: The HAR file.
    ///   - mode: Whether requests are recorded, replayed or passed on; `once` by default.
    /// - Returns: The route.
    /// - Throws: The errors of ``Recording/init(_:mode:matching:redaction:bodies:expiresAfter:network:)``.
    public static func recorded(in file: URL, mode: RecordingMode = .once) throws -> Route {
        .recorded(try Recording(file, mode: mode))
    }
}
