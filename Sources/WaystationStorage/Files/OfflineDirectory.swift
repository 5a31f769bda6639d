public import Foundation
import HTTPTypes
import Synchronization
import WaystationHTTP

/// A directory of web files that answers HTTP requests.
///
/// ```swift
/// let site = try OfflineDirectory(URL(filePath: "site"))
/// switch site.answer(FileRequest(path: "guide/")) {
/// case .answer(let answer): print(answer.headerFields)  // of guide/index.html: ETag, Last-Modified, Content-Type
/// case .notFound: print("there is no such file")
/// case .refused(let refusal): print(refusal)
/// case .failed(let error): print(error)
/// }
/// ```
///
/// Answers GET and HEAD with single ranges (RFC 9110 section 14) and preconditions (section 13). A `Range` field with
/// several ranges is ignored, as section 14.2 allows: the whole file is the answer.
///
/// Files outside the directory are never served. Every name of a path is opened by itself, relative to the directory
/// before it, and a symbolic link is refused wherever it is and wherever it points to. Only regular files are served; a
/// FIFO or a device is not even opened. Files whose names begin with a dot are served like any other, so keep no
/// secrets in the directory. The file system compares names as exact bytes; a file system that ignores case does so
/// here too.
///
/// The object holds the directory open: renaming or replacing the directory later does not change what the object serves. Files in it may change at any time;
/// changes are detected by size, inode and times. Replace files by renaming, so that no reader sees half of a file.
///
/// All methods may be called from any thread at once.
public final class OfflineDirectory: Sendable {
    /// The directory as it was passed in.
    public let root: URL
    /// How the directory answers.
    public let options: Options

    private let rootDirectory: OpenFile
    let now: @Sendable () -> FileTime
    let pins: PinnedFiles?
    let residents: Mutex<ResidentTable>
    let fingerprints = Mutex(FingerprintMemo())

    /// Opens a directory.
    ///
    /// - Parameters:
    ///   - root: A `file:` URL. Its path may contain symbolic links; inside the directory, links are never followed.
    ///   - options: How the directory answers.
    /// - Throws: ``OfflineDirectoryError`` when `root` does not exist, is not a directory or cannot be opened, or when
    ///   an index document is not the bare name of a file.
    public convenience init(_ root: URL, options: Options = .init()) throws(OfflineDirectoryError) {
        try self.init(root, options: options, now: FileTime.now)
    }

    /// Opens a directory with a custom clock, which must not be ahead of the clock of the file system.
    ///
    /// - Parameters:
    ///   - root: The directory.
    ///   - options: How the directory answers.
    ///   - pins: The known digests of its files, if any. Files that differ from them are not served, and files in
    ///     memory are served without checking the disk.
    ///   - now: The clock.
    /// - Throws: The same errors as the other initialiser.
    package init(
        _ root: URL,
        options: Options = .init(),
        pins: PinnedFiles? = nil,
        now: @escaping @Sendable () -> FileTime = FileTime.now
    ) throws(OfflineDirectoryError) {
        for document in options.indexDocuments {
            guard case .success([document]) = OfflinePath.components(of: OfflinePath.encoded(document)) else {
                throw OfflineDirectoryError(
                    code: .invalidOptions,
                    message: "'\(document)' cannot be an index document; give the bare name of a file, as 'index.html'",
                    errorNumber: nil
                )
            }
        }
        self.root = root
        self.options = options
        self.now = now
        self.pins = pins
        rootDirectory = try OpenFile(openingRoot: root)
        residents = Mutex(ResidentTable(limit: options.residentLimit))
    }

    /// Answers from memory; nil when that is not possible.
    ///
    /// For use on the loading queue: costs a look-up under a lock and one `fstatat`, and never reads a file. A plain
    /// GET or HEAD (without `Range` and `If-…` fields) that ``answer(_:)`` has answered before gets the same instance
    /// again as long as the file's inode, size and times are unchanged.
    ///
    /// - Returns: `nil` when the request is not plain, or the file is not in memory or has changed: call ``answer(_:)``.
    public func resident(_ request: FileRequest) -> FileAnswer? {
        guard request.isPlain else { return nil }
        return resident(path: request.path, isHead: request.method == .head)
    }

    /// Answers a plain GET for a percent-encoded path from memory; nil when that is not possible, see ``resident(_:)``.
    public func resident(path: String) -> FileAnswer? {
        resident(path: path, isHead: false)
    }

    /// Answers a request, and reads from the disk if necessary; blocks for as long as that takes.
    ///
    /// The first answer for a file reads all of it, since the `ETag` is made from the content; the result is remembered
    /// until the file changes. A directory that is requested without its trailing slash is answered with 301 and a
    /// relative `Location` (RFC 9110 section 10.2.2), which is correct wherever the directory is mounted; the request's
    /// query is kept. A directory without an index document is answered with ``FileOutcome/notFound``.
    public func answer(_ request: FileRequest) -> FileOutcome {
        guard request.method == .get || request.method == .head else {
            return .answer(.empty(.methodNotAllowed, [.allow: "GET, HEAD"]))
        }
        if let answer = resident(request) { return .answer(answer) }
        switch OfflinePath.components(of: request.path) {
        case .failure(let refusal): return .refused(refusal)
        case .success(let names): return answer(request, names: names)
        }
    }
}

extension OfflineDirectory {
    /// How an offline directory answers.
    public struct Options: Sendable, Hashable {
        /// The names that are tried in order when a directory is requested.
        ///
        /// Default: `index.html`, `index.htm`.
        public var indexDocuments: [String]
        /// The maximum number of bytes kept in memory, for all files together.
        ///
        /// Default: 16 MiB. 0 keeps no files in memory.
        public var residentLimit: Int
        /// The maximum size in bytes of a file that is kept in memory, or read in one piece.
        ///
        /// Default: 256 KiB.
        public var residentFileLimit: Int
        /// The number of bytes of a larger file that are read at a time.
        ///
        /// Default: 256 KiB.
        public var chunkSize: Int

        /// Makes options; each has a default.
        public init(
            indexDocuments: [String] = ["index.html", "index.htm"],
            residentLimit: Int = 16 << 20,
            residentFileLimit: Int = 256 << 10,
            chunkSize: Int = 256 << 10
        ) {
            self.indexDocuments = indexDocuments
            self.residentLimit = residentLimit
            self.residentFileLimit = residentFileLimit
            self.chunkSize = chunkSize
        }
    }
}

extension OfflineDirectory {
    /// A file that was found: kept in memory, or not.
    enum FoundContent {
        case resident(ResidentFile)
        case passing(Representation)

        var representation: Representation {
            switch self {
            case .resident(let file): file.representation
            case .passing(let representation): representation
            }
        }
    }

    func content(of file: StampedFile) throws(OfflineDirectoryError) -> FoundContent {
        let path = ExactPath(file.path)
        if let resident = residents.withLock({ $0.file(at: path, stamp: file.stamp) }) { return .resident(resident) }
        // The clock is read before the file: a write after this moment changes any stamp that was settled at this
        // moment.
        let moment = now()
        guard file.stamp.size <= options.residentFileLimit else {
            return .passing(try largeRepresentation(of: file, at: moment))
        }
        let bytes = try file.read(at: 0, count: file.stamp.size)
        var fingerprinter = Fingerprinter()
        fingerprinter.take(bytes)
        guard try file.hasSameContentStamp() else { throw .changed(file.path) }
        let representation = try representation(
            of: file,
            fingerprint: fingerprinter.finish(),
            content: .memory(bytes),
            at: moment
        )
        guard file.stamp.isSettled(at: moment) else { return .passing(representation) }
        let resident = ResidentFile(path: path, stamp: file.stamp, representation: representation)
        return .resident(residents.withLock { $0.keep(resident) })
    }

    private func largeRepresentation(
        of file: StampedFile,
        at moment: FileTime
    ) throws(OfflineDirectoryError) -> Representation {
        let fingerprint: Fingerprint
        if let known = fingerprints.withLock({ $0[file.stamp] }) {
            fingerprint = known
        } else {
            fingerprint = try self.fingerprint(of: file)
            if file.stamp.isSettled(at: moment) {
                fingerprints.withLock { $0[file.stamp] = fingerprint }
            }
        }
        return try representation(
            of: file,
            fingerprint: fingerprint,
            content: .file(file, chunkSize: chunkSize),
            at: moment
        )
    }

    private func fingerprint(of file: StampedFile) throws(OfflineDirectoryError) -> Fingerprint {
        var fingerprinter = Fingerprinter()
        var offset = 0
        while offset < file.stamp.size {
            let bytes = try file.read(at: offset, count: min(chunkSize, file.stamp.size - offset))
            fingerprinter.take(bytes)
            offset += bytes.count
        }
        guard try file.hasSameContentStamp() else { throw .changed(file.path) }
        return fingerprinter.finish()
    }

    private var chunkSize: Int { max(options.chunkSize, 1) }

    /// Makes the representation of a file for its answers; throws if the file differs from its pin.
    private func representation(
        of file: StampedFile,
        fingerprint: Fingerprint,
        content: Representation.Content,
        at moment: FileTime
    ) throws(OfflineDirectoryError) -> Representation {
        let pin = pins?[file.path]
        if pins != nil, pin?.digest != fingerprint.digest { throw .damaged(file.path) }
        return Representation(
            content: content,
            length: file.stamp.size,
            entityTag: fingerprint.entityTag,
            // RFC 9110 section 8.8.2.1: the date must never be later than the answer itself.
            lastModified: pins?.lastModified
                ?? HTTPDate(secondsSinceEpoch: min(file.stamp.modified.seconds, moment.seconds)),
            mediaType: pin?.mediaType
                ?? MediaType.mediaType(
                    forFileName: file.path,
                    leadingBytes: fingerprint.leadingBytes,
                    restIsUTF8: fingerprint.isUTF8
                )
        )
    }
}

extension OfflineDirectory {
    func resident(path: String, isHead: Bool) -> FileAnswer? {
        let spelling = ExactPath(path)
        guard let file = residents.withLock({ $0.file(spelled: spelling) }) else { return nil }
        // A pinned file was checked against its digest when it was read, and is never written again.
        if pins != nil { return isHead ? file.headAnswer : file.getAnswer }
        var status = stat()
        // `fstatat` follows links that may have replaced directories since the file was opened. Following them does no
        // harm: the bytes in memory were read from below the root, and they are served only if inode and times are
        // unchanged.
        guard fstatat(rootDirectory.descriptor, file.path.text, &status, AT_SYMLINK_NOFOLLOW) == 0,
            FileStamp(status) == file.stamp
        else {
            residents.withLock { $0.remove(file) }
            return nil
        }
        return isHead ? file.headAnswer : file.getAnswer
    }

    func answer(_ request: FileRequest, names: [String]) -> FileOutcome {
        let namesDirectory = names.isEmpty || request.path.utf8.last == UInt8(ascii: "/")
        switch rootDirectory.locate(names) {
        case .file(let file):
            // The path of a file has no trailing slash.
            return namesDirectory ? .notFound : answer(request, file: file, spelling: request.path)
        case .directory(let directory):
            return answer(request, names: names, directory: directory, isRedirected: !namesDirectory)
        case .missing: return .notFound
        case .refused(let reason): return .refused(PathRefusal(code: reason, path: request.path))
        case .failed(let error): return .failed(error)
        }
    }

    /// Answers with the first index document that exists in the directory.
    private func answer(
        _ request: FileRequest,
        names: [String],
        directory: OpenFile,
        isRedirected: Bool
    ) -> FileOutcome {
        for (index, document) in options.indexDocuments.enumerated() {
            switch directory.locate([document]) {
            case .file(let file):
                if isRedirected, let name = names.last {
                    return .answer(.redirect(toFolder: OfflinePath.encoded(name), request.query))
                }
                let beneath = StampedFile(
                    file: file.file,
                    stamp: file.stamp,
                    path: (names + [document]).joined(separator: "/")
                )
                // Only the first index document may be remembered under the directory's path: before any other one, an
                // earlier one could appear.
                return answer(request, file: beneath, spelling: index == 0 ? request.path : nil)
            case .directory, .missing: continue
            case .refused(let reason): return .refused(PathRefusal(code: reason, path: request.path))
            case .failed(let error): return .failed(error)
            }
        }
        return .notFound
    }

    /// Answers with a file, which may be found in memory under `spelling` afterwards.
    private func answer(_ request: FileRequest, file: StampedFile, spelling: String?) -> FileOutcome {
        do throws(OfflineDirectoryError) {
            let found = try content(of: file)
            if request.isPlain, case .resident(let resident) = found {
                if let spelling { residents.withLock { $0.learn(ExactPath(spelling), for: resident) } }
                return .answer(request.method == .head ? resident.headAnswer : resident.getAnswer)
            }
            return .answer(answer(request, representation: found.representation))
        } catch {
            return .failed(error)
        }
    }

    private func answer(_ request: FileRequest, representation: Representation) -> FileAnswer {
        let precondition = Precondition(
            request.headerFields,
            entityTag: representation.entityTag,
            lastModified: representation.lastModified,
            now: today
        )
        let isHead = request.method == .head
        switch precondition {
        case .failed: return .empty(.preconditionFailed, [:])
        case .notModified: return representation.answerNotModified()
        case .proceed(let honoursRange):
            // Section 14.2: Range is defined for GET only.
            guard honoursRange, !isHead, let range = request.headerFields[.range] else {
                return representation.answer(isHead: isHead)
            }
            switch ByteRange(range, length: representation.length) {
            case .ignored: return representation.answer(isHead: false)
            case .part(let part): return representation.answer(part: part)
            case .unsatisfiable: return representation.answerRangeNotSatisfiable()
            }
        }
    }

    /// The current time in whole seconds; the epoch when the clock is outside HTTP's range.
    var today: HTTPDate {
        HTTPDate(secondsSinceEpoch: now().seconds) ?? .epoch
    }
}

/// The known properties of the files of an offline directory: those of a pack, from its manifest.
package struct PinnedFiles: Sendable {
    /// The known properties of one file.
    package struct Pin: Sendable {
        /// The SHA-256 of its content.
        package let digest: Data
        /// Its media type, if it cannot be determined from the name and the content.
        package let mediaType: MediaType?

        package init(digest: Data, mediaType: MediaType? = nil) {
            self.digest = digest
            self.mediaType = mediaType
        }
    }

    private let pins: [ExactPath: Pin]
    /// When all the files were released; used instead of the times on disk.
    let lastModified: HTTPDate?

    /// Pins files by their decoded paths relative to the root.
    package init(_ pins: [(path: String, pin: Pin)], lastModified: Date?) {
        self.pins = Dictionary(pins.map { (ExactPath($0.path), $0.pin) }) { first, _ in first }
        self.lastModified = lastModified.flatMap {
            HTTPDate(secondsSinceEpoch: Int($0.timeIntervalSince1970.rounded(.down)))
        }
    }

    subscript(path: String) -> Pin? { pins[ExactPath(path)] }
}
