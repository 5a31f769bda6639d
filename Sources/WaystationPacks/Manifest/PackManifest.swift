public import Foundation
import Synchronization
import WaystationHTTP
import WaystationStorage

/// The properties of a pack and its list of files: the file `waystation-pack.json` at the root of its zip, and of its
/// folder once installed.
///
/// ```json
/// {"baseURLs":["https://shop.example/app/"],
///  "files":[{"path":"index.html","sha256":"9f86d081…","size":5120}],
///  "formatVersion":1,"module":"shop","released":"2026-03-01T12:00:00Z","version":"1.4.2"}
/// ```
///
/// The list holds every file of the pack except the manifest itself, sorted by the bytes of the paths.
public struct PackManifest: Hashable, Sendable {
    /// The name of the manifest's file.
    public static let fileName = "waystation-pack.json"

    /// The version of the format that this code reads and writes.
    public static let formatVersion = 1

    /// The largest manifest that is read, in bytes: 64 MiB, about 400,000 files.
    public static let maximumSize = 64 << 20

    /// The maximum number of base URLs of a pack.
    public static let maximumBaseURLs = 32

    /// The module that the pack belongs to.
    public let module: ModuleID
    /// The pack's version.
    public let version: PackVersion
    /// The URLs at which the pack's root is served, each absolute, without a query and with a slash at its end.
    ///
    /// The file `a/b.js` answers at each of these URLs with `a/b.js` appended.
    public let baseURLs: [String]
    /// The release date; responses carry it as `Last-Modified`.
    public let released: Date?
    /// The lowest version of the app that can use the pack.
    public let minimumAppVersion: PackVersion?
    /// The lowest version of the module that may still be used once this pack is known.
    public let minimumPackVersion: PackVersion?
    /// The files, sorted by the bytes of their paths.
    public let files: [PackedFile]

    /// Makes a manifest, and sorts the files.
    ///
    /// - Throws: ``PackError`` with the code `invalidManifest` when a base URL, a path, a size or a digest is not
    ///   valid, or when two files have the same path.
    public init(
        module: ModuleID,
        version: PackVersion,
        baseURLs: [String],
        released: Date? = nil,
        minimumAppVersion: PackVersion? = nil,
        minimumPackVersion: PackVersion? = nil,
        files: [PackedFile]
    ) throws(PackError) {
        guard baseURLs.count <= Self.maximumBaseURLs else {
            throw PackError(
                .invalidManifest,
                "the manifest of \(module) \(version) has \(baseURLs.count) base URLs; "
                    + "at most \(Self.maximumBaseURLs) are allowed"
            )
        }
        self.module = module
        self.version = version
        self.baseURLs = try baseURLs.map(Self.checkedBase)
        self.released = released
        self.minimumAppVersion = minimumAppVersion
        self.minimumPackVersion = minimumPackVersion
        let sorted = files.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        for (index, file) in sorted.enumerated() {
            try Self.check(file)
            if index > 0, sorted[index - 1].path.utf8.elementsEqual(file.path.utf8) {
                throw PackError(
                    .invalidManifest,
                    "the manifest of \(module) \(version) lists \(file.path.quoted()) twice"
                )
            }
        }
        self.files = sorted
    }

    /// The sum of the sizes of all files, in bytes; `Int.max` when it overflows.
    public var contentSize: Int {
        files.reduce(0) { sum, file in
            let (total, overflow) = sum.addingReportingOverflow(file.size)
            return overflow ? .max : total
        }
    }

    private static func checkedBase(_ text: String) throws(PackError) -> String {
        guard let url = CanonicalURL(text), url.query == nil, url.userInfo == nil else {
            throw PackError(
                .invalidManifest,
                "\(text.quoted()) cannot be a base URL: use an absolute URL without a query, such as https://shop.example/app/"
            )
        }
        return url.path.hasSuffix("/") ? url.string : url.string + "/"
    }

    private static func check(_ file: PackedFile) throws(PackError) {
        let names = file.path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        // A pack may only hold files that can be served under exactly this path.
        let encoded = names.map(OfflinePath.encoded).joined(separator: "/")
        guard case .success(let decoded) = OfflinePath.components(of: encoded),
            decoded.count == names.count, zip(decoded, names).allSatisfy({ $0.utf8.elementsEqual($1.utf8) })
        else {
            throw PackError(
                .invalidManifest,
                "\(file.path.quoted()) is not a valid path in a pack: use names separated by '/', none of them '.' or '..'"
            )
        }
        guard file.path != fileName else {
            throw PackError(.invalidManifest, "a pack's manifest does not list itself (\(fileName))")
        }
        guard file.size >= 0 else {
            throw PackError(.invalidManifest, "\(file.path.quoted()) has a size below zero: \(file.size)")
        }
        if let mediaType = file.mediaType, !isMediaType(mediaType) {
            throw PackError(
                .invalidManifest,
                "\(file.path.quoted()) has the media type \(mediaType.quoted()): something like text/html is expected"
            )
        }
        let isDigest =
            file.sha256.utf8.count == 64
            && file.sha256.utf8.allSatisfy(\.isLowerCaseHexadecimalDigit)
        guard isDigest else {
            throw PackError(
                .invalidManifest,
                "\(file.path.quoted()) has the digest \(file.sha256.quoted()): 64 hexadecimal digits in lower case are expected"
            )
        }
    }

    /// Whether a text is allowed in `Content-Type`: visible ASCII characters and spaces with a slash among them.
    private static func isMediaType(_ text: String) -> Bool {
        text.utf8.count <= 255 && text.utf8.allSatisfy { (0x20...0x7E).contains($0) } && text.contains("/")
    }
}

extension PackManifest {
    /// Reads a manifest.
    ///
    /// - Throws: ``PackError`` with the code `invalidManifest`, or `unsupportedVersion` for a later format.
    public init(json: Data) throws(PackError) {
        let document: Document
        do {
            let format = try Self.decoder.decode(Format.self, from: json)
            guard format.formatVersion == Self.formatVersion else {
                throw PackError(
                    .unsupportedVersion,
                    "the manifest has format version \(format.formatVersion), but this Waystation reads "
                        + "\(Self.formatVersion): update the app, or build the pack with an older tool"
                )
            }
            document = try Self.decoder.decode(Document.self, from: json)
        } catch let error as PackError {
            throw error
        } catch {
            throw PackError(
                .invalidManifest,
                "the manifest is not in the expected format: \(error.place)",
                cause: error
            )
        }
        try self.init(
            module: document.module,
            version: document.version,
            baseURLs: document.baseURLs,
            released: document.released,
            minimumAppVersion: document.minimumAppVersion,
            minimumPackVersion: document.minimumPackVersion,
            files: document.files
        )
    }

    /// The manifest as JSON; the same manifest always gives the same bytes.
    public func json() throws(PackError) -> Data {
        do {
            return try Self.encoder.encode(
                Document(
                    formatVersion: Self.formatVersion,
                    module: module,
                    version: version,
                    baseURLs: baseURLs,
                    released: released,
                    minimumAppVersion: minimumAppVersion,
                    minimumPackVersion: minimumPackVersion,
                    files: files
                )
            )
        } catch {
            throw PackError(.invalidManifest, "the manifest of \(module) \(version) cannot be written", cause: error)
        }
    }

    private struct Format: Decodable { let formatVersion: Int }

    private struct Document: Codable {
        let formatVersion: Int
        let module: ModuleID
        let version: PackVersion
        let baseURLs: [String]
        let released: Date?
        let minimumAppVersion: PackVersion?
        let minimumPackVersion: PackVersion?
        let files: [PackedFile]
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}

/// Reads many files as one stream with only a few of them open at a time: a release may change thousands of files.
struct FileRow: Sendable {
    private final class Open: Sendable {
        private static let limit = 8
        private let files = Mutex<[(path: String, source: FileSource)]>([])
        private let fileSystem: any FileSystem

        init(_ fileSystem: any FileSystem) { self.fileSystem = fileSystem }

        func source(_ path: String) throws -> FileSource {
            if let source = files.withLock({ $0.first { $0.path == path }?.source }) { return source }
            let source = try FileSource(fileSystem.openFile(path))
            files.withLock { files in
                if files.count >= Self.limit { files.removeFirst() }
                files.append((path, source))
            }
            return source
        }
    }

    private struct File: ByteSource {
        let path: String
        let length: Int
        let open: Open

        func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
            try open.source(path).read(at: offset, into: buffer)
        }
    }

    /// The files as one source; nil when their total length overflows `Int`.
    ///
    /// Each file has the length that is given for it; a file that is shorter on disk ends the stream early.
    static func source(
        _ files: [(path: String, length: Int)],
        _ fileSystem: any FileSystem
    ) -> ConcatenatedSource? {
        let open = Open(fileSystem)
        return ConcatenatedSource(files.map { File(path: $0.path, length: $0.length, open: open) })
    }
}

/// A file of a pack, as its manifest lists it.
public struct PackedFile: Hashable, Sendable {
    /// The path relative to the pack's root, with `/` between the names.
    public let path: String
    /// The length in bytes.
    public let size: Int
    /// The SHA-256 of the content, 64 hexadecimal digits in lower case.
    public let sha256: String
    /// The media type, such as `text/html; charset=utf-8`; nil when the name and the content show it.
    public let mediaType: String?

    /// Describes a file; the values are checked when the manifest is made.
    public init(path: String, size: Int, sha256: String, mediaType: String? = nil) {
        self.path = path
        self.size = size
        self.sha256 = sha256
        self.mediaType = mediaType
    }
}

extension PackedFile: Codable {}

/// The URLs that a server lets packs answer; an entry that is not valid allows nothing.
struct Whitelist: Sendable {
    /// The entries that are not valid, with the reason.
    let rejected: [URLPatternError]
    private let table: RuleTable<Bool>?

    init(_ urls: [String]) {
        let (rules, rejected) = RuleDefinition<Bool>.whitelist(urls, action: true)
        self.rejected = rejected
        table = try? RuleTable(rules)
    }

    func allows(_ url: CanonicalURL) -> Bool {
        table?.match(RuleRequest(url: url, method: "GET")) != nil
    }
}
