public import Foundation
public import WaystationArchive
import WaystationFileSystem
public import WaystationPacks
import WaystationPatch

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
