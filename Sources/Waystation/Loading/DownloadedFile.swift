import WaystationFoundation
import WaystationStorage

/// The file of a download that no loader of Foundation's own has made.
///
/// A session takes it from a property of the task's protocol that only Foundation can set by its name. So it is set by
/// its place in the protocol, which is known only if a property of exactly this name and type exists; on a toolchain
/// without it, such downloads are refused.
struct DownloadedFile: Sendable {
    /// The file by the property of this toolchain.
    static let current = DownloadedFile()

    let cure: FoundationCure
    /// The place of the property in a protocol, and its type; nil if the cure stays out.
    private let property: (offset: Int, type: any FileProperties.Type)?

    /// Finds the property of this name, which must be a dictionary that can have the key of a file.
    init(property name: String = "properties", isNeeded: Bool = true) {
        let type = FoundationInternals.type(of: name, in: URLProtocol.self) as? any FileProperties.Type
        let offset = type.flatMap { $0.hasFile ? $0.offset(of: name, in: URLProtocol.self) : nil }
        cure = FoundationCure(
            "L6",
            "a rule with a transport of its own answers downloads",
            without: "downloads of rules with a transport of their own are refused",
            isNeeded: isNeeded,
            missing: offset == nil ? "URLProtocol.\(name): [_PropertyKey: Any], with the key temporaryFileURL" : nil
        )
        property = if cure.isApplied, let offset, let type { (offset, type) } else { nil }
    }

    /// Whether the session of a download can be given a file.
    var canBeHandedOver: Bool { cure.state == .notNeeded || property != nil }

    /// Writes a file, and gives it to the session with the end of the load.
    ///
    /// A session that makes the file of a protocol's bytes, as on other systems, gets the bytes.
    ///
    /// Call it on the work queue, before the end is reported. As with Foundation's own loader, the app removes the file.
    ///
    /// - Throws: `URLError.cannotCreateFile` if the file cannot be written.
    func handOver(_ body: Data, by urlProtocol: URLProtocol) throws(URLError) {
        if cure.state == .notNeeded {
            urlProtocol.client?.urlProtocol(urlProtocol, didLoad: body)
            return
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "waystation-\(UUID().uuidString).tmp")
        func failure(_ reason: String, _ cause: (any Error)? = nil) -> URLError {
            let message = "the file of the download cannot be handed over: \(reason)"
            return URLError(.cannotCreateFile, failing: urlProtocol.request.url, message, underlying: cause)
        }
        guard let (offset, type) = property else { throw failure("this version of Foundation has no place for it") }
        do { try body.write(to: file) } catch { throw failure("it cannot be written to \(file.path)", error) }
        type.set(file, at: Unmanaged.passUnretained(urlProtocol).toOpaque() + offset)
    }
}

/// The type of the property: a dictionary by an enumeration of Foundation's own.
private protocol FileProperties: SendableMetatype {
    static var hasFile: Bool { get }
    static func offset(of name: String, in owner: Any.Type) -> Int?
    static func set(_ file: URL, at place: UnsafeMutableRawPointer)
}

extension Dictionary: FileProperties where Key: RawRepresentable, Key.RawValue == String, Value == Any {
    fileprivate static var hasFile: Bool { fileKey != nil }

    private static var fileKey: Key? { Key(rawValue: "temporaryFileURL") }

    fileprivate static func offset(of name: String, in owner: Any.Type) -> Int? {
        FoundationInternals.offset(of: name, as: Self.self, in: owner)
    }

    fileprivate static func set(_ file: URL, at place: UnsafeMutableRawPointer) {
        guard let fileKey else { return }
        place.assumingMemoryBound(to: Self.self).pointee[fileKey] = file
    }
}

/// The error that a failed download gets when the library holds the requested file.
enum DownloadAdvice {
    /// Passes the error on, or an error that names another way to load the file.
    ///
    /// On Linux a custom protocol cannot give a download task its file: a completion handler gets none, and with a
    /// delegate the process is killed. So downloads always use the network. Without a network, a developer who knows
    /// that the file is available locally could not explain the failure.
    ///
    /// `completion` is called once. It is called at once unless the disk must be read to find out whether the file is
    /// held. A rule with a source of the app's own is not asked: no code of the app runs for a download.
    static func explain(
        _ error: any Error,
        of task: URLSessionTask,
        _ context: LoadContext,
        _ completion: @escaping @Sendable (any Error) -> Void
    ) {
        guard task is URLSessionDownloadTask, let failure = error as? URLError, failure.code != .cancelled,
            let request = task.originalRequest,
            !(context.stations.matcher.match(request)?.rule.asksApp ?? false),
            let visit = context.stations.first(request)
        else { return completion(error) }
        isHeld(visit.verdict, context.environment.now()) { isHeld in
            completion(isHeld ? advice(after: failure, for: request) : failure)
        }
    }

    private static func advice(after failure: URLError, for request: URLRequest) -> URLError {
        URLError(
            failure.code,
            failing: request.url,
            "\(failure.localizedDescription) The waystation holds \(name(of: request)), but \(reason)",
            underlying: WaystationError(.downloadUnavailable, reason, cause: failure)
        )
    }

    /// The error for a task that only Foundation could load, from the network, when the task's rule forbids the
    /// network.
    static func refusal(of task: URLSessionTask, _ request: URLRequest) -> URLError {
        let what = task is URLSessionDownloadTask ? reason : "a \(type(of: task)) needs the network"
        return URLError(
            .resourceUnavailable,
            failing: request.url,
            "the rule for \(name(of: request)) keeps loads from the network, and \(what)",
            underlying: WaystationError(.downloadUnavailable, what)
        )
    }

    /// The error for a task that only Foundation could load, when the app has a transport of its own.
    static func passesTransport(_ task: URLSessionTask, _ request: URLRequest) -> URLError {
        let message = """
            \(name(of: request)) was not loaded: only Foundation can load a \(type(of: task)), and it would \
            bypass the transport that makeTransport made. Use a data task, or set leavesTasksToFoundation
            """
        return URLError(
            .resourceUnavailable,
            failing: request.url,
            message,
            underlying: WaystationError(.transportNeedsDataTask, message)
        )
    }

    private static func name(of request: URLRequest) -> String { request.url?.shown ?? "the file" }

    private static let reason = """
        on Linux Foundation gives a custom protocol no way to pass a file to a download task: load it with a data \
        task, data(for:) for instance, and write the bytes yourself
        """

    /// Whether a verdict ends in an answer without the network.
    private static func isHeld(_ verdict: Verdict, _ now: Date, _ completion: @escaping @Sendable (Bool) -> Void) {
        switch verdict {
        case .answer(let answer): completion(!answer.isMadeHere)
        case .fetch(_, let fetch): completion(fetch.standIn(now: now) != nil)
        case .declined, .send, .carry, .handBack, .spool, .open, .fail, .wait: completion(false)
        case .lookUp(let lookUp): _ = lookUp.run { isHeld($0, now, completion) }
        }
    }
}
