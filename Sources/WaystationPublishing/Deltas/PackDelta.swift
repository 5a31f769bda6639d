public import Foundation
public import WaystationArchive
public import WaystationPacks
import WaystationStorage

/// Makes patches between packs.
public enum PackDelta {
    /// Makes a patch that turns one pack into another.
    ///
    /// The same packs always give the same bytes. The input is held in memory: for a content patch the files that
    /// differ, for a zip patch both zips. The old bytes take five times their size, at worst nine times.
    ///
    /// - Parameters:
    ///   - kind: The kind of bytes that the patch is applied to: the contents of installed files, or the zip.
    ///   - old: The old pack, which clients have.
    ///   - new: The new pack, to which the patch leads.
    ///   - limits: The limits beyond which a zip is refused.
    /// - Returns: The patch, in the format of `Docs/FileFormats.md`.
    /// - Throws: ``WaystationPacks/PackError`` when a pack cannot be read, or when the two packs belong to different
    ///   modules; with `tooLarge` when they are too large for a patch.
    public static func make(
        _ kind: PatchOffer.Kind,
        from old: URL,
        to new: URL,
        limits: ZipLimits = ZipLimits()
    ) throws(PackError) -> Data {
        switch kind {
        case .content:
            let (base, result) = (try PackContents(old, limits: limits), try PackContents(new, limits: limits))
            guard base.manifest.module == result.manifest.module else {
                throw PackError(
                    .invalidArgument,
                    "\(old.lastPathComponent) is a pack of \(base.manifest.module), but "
                        + "\(new.lastPathComponent) is one of \(result.manifest.module): "
                        + "give two versions of one module"
                )
            }
            return try PackBuilder.contentPatch(from: base, to: result)
        case .zip:
            do {
                return try BSDiffPatch.create(from: FileSource(old), to: FileSource(new))
            } catch let error as PatchError where error.code == .tooLarge || error.code == .outOfMemory {
                throw PackError(.tooLarge, "the zips are too large for a patch", cause: error)
            } catch {
                throw PackError(
                    .fileSystem,
                    "cannot make a patch from \(old.lastPathComponent) to \(new.lastPathComponent)",
                    cause: error
                )
            }
        }
    }

    /// Makes a patch as ``make(_:from:to:limits:)`` does, and writes it to a new file.
    ///
    /// - Throws: ``WaystationPacks/PackError`` as `make` does; `invalidArgument` when the file exists already or
    ///   its URL is not a file URL.
    public static func write(
        _ kind: PatchOffer.Kind,
        from old: URL,
        to new: URL,
        into file: URL,
        limits: ZipLimits = ZipLimits()
    ) throws(PackError) {
        // Checked before the patch is made, which may take minutes.
        if let problem = file.fileURLProblem { throw PackError(.invalidArgument, problem) }
        try NewFile.write(try make(kind, from: old, to: new, limits: limits), to: file)
    }
}

/// The kind of a file or folder, with its properties.
public enum PackInspection: Sendable {
    /// A pack in a zip.
    case zip(PackManifest, manifestDigest: PackDigest, file: Properties)
    /// A pack in a folder.
    case folder(PackManifest, manifestDigest: PackDigest)
    /// A patch between the contents of two packs, which it names by the SHA-256 of their manifests.
    case contentPatch(base: PackDigest, result: PackDigest, file: Properties)
    /// A BSDIFF40 patch between two files, which it does not name.
    case zipPatch(resultSize: Int, file: Properties)

    /// The properties of a file.
    public struct Properties: Sendable, Hashable {
        /// The size in bytes.
        public var size: Int
        /// Its SHA-256.
        public var sha256: PackDigest
        /// Its MD5.
        public var md5: PackDigest
    }

    /// Reads the header of a file, or the manifest of a folder.
    ///
    /// The contents are not compared with their digests: ``WaystationPacks/PackContents/verify()`` does that.
    ///
    /// - Parameters:
    ///   - url: The file or folder.
    ///   - limits: The limits beyond which a zip is refused.
    /// - Throws: ``WaystationPacks/PackError`` when the file cannot be read, or is none of these kinds.
    public init(_ url: URL, limits: ZipLimits = ZipLimits()) throws(PackError) {
        if try url.isFolder {
            let contents = try PackContents(url)
            self = .folder(contents.manifest, manifestDigest: contents.manifestDigest)
            return
        }
        do {
            let source = try FileSource(url)
            let head = try source.read(at: 0, count: 8)
            let file = Properties(
                size: source.length,
                sha256: try PackDigest(of: source),
                md5: try PackDigest(of: source, .md5)
            )
            switch head {
            case ContentPatch.magic:
                let patch = try ContentPatch(source)
                guard let base = PackDigest("sha256-\(patch.base)"), let result = PackDigest("sha256-\(patch.result)")
                else { throw PackError(.damaged, "the content patch has no valid digests: make it again") }
                self = .contentPatch(base: base, result: result, file: file)
            case Data("BSDIFF40".utf8):
                self = .zipPatch(resultSize: try BSDiffPatch(source).newSize, file: file)
            default:
                let contents = try PackContents(url, limits: limits)
                self = .zip(contents.manifest, manifestDigest: contents.manifestDigest, file: file)
            }
        } catch let error as PackError {
            throw error
        } catch let error as PatchError {
            throw PackError(.damaged, "\(url.lastPathComponent) is a damaged patch: make it again", cause: error)
        } catch {
            throw PackError(.fileSystem, "\(url.path(percentEncoded: false)) cannot be read", cause: error)
        }
    }
}

extension URL {
    /// Whether there is a folder at this URL, and not a file.
    ///
    /// - Throws: ``WaystationPacks/PackError`` when there is neither.
    fileprivate var isFolder: Bool {
        get throws(PackError) {
            var isFolder: ObjCBool = false
            let path = path(percentEncoded: false)
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
                throw PackError(.fileSystem, "\(path) does not exist: check the path")
            }
            return isFolder.boolValue
        }
    }
}
