public import Foundation
import WaystationFields
import WaystationFiles
import WaystationRules

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
