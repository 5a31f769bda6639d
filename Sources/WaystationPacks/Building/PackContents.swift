public import Foundation
import WaystationArchive
import WaystationFileSystem

/// A pack that is opened to be read: a zip with a manifest, or a folder with one.
public struct PackContents: Sendable {
    /// What the pack is and holds.
    public let manifest: PackManifest
    /// The manifest's bytes.
    let json: Data

    private enum Storage: Sendable {
        case zip(ZipArchive)
        case folder(String)
    }

    private let storage: Storage

    /// Opens a pack.
    ///
    /// - Parameter url: A zip or a folder, with its manifest at its root.
    /// - Throws: ``PackError`` when it is no pack.
    public init(_ url: URL) throws(PackError) {
        let path = url.path(percentEncoded: false).trimmingTrailingSlash
        do {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
                throw FileError("open", path, code: ENOENT)
            }
            let json: Data?
            if isFolder.boolValue {
                storage = .folder(path)
                json = try LocalFileSystem().readFile(
                    "\(path)/\(PackManifest.fileName)",
                    limit: PackManifest.maximumSize
                )
            } else {
                let archive = try ZipArchive(FileSource(URL(fileURLWithPath: path)))
                storage = .zip(archive)
                json = try archive[PackManifest.fileName].map { try archive.read($0) }
            }
            guard let json else {
                throw PackError(
                    .invalidManifest,
                    "\(path) has no \(PackManifest.fileName) and is no pack: build one with `waystation pack build`"
                )
            }
            self.json = json
            manifest = try PackManifest(json: json)
        } catch let error as PackError {
            throw error
        } catch {
            throw PackError(.damaged, "\(path) cannot be read as a pack", cause: error)
        }
    }

    /// The SHA-256 of the manifest's bytes: what content patches name as their base and their result.
    public var manifestDigest: PackDigest { PackDigest(of: json) }

    /// The bytes of files, one after another.
    func stream(of files: [PackedFile]) throws -> ConcatenatedSource? {
        switch storage {
        case .folder(let path): FileRow.source(files.map { ("\(path)/\($0.path)", $0.size) }, LocalFileSystem())
        case .zip: try ConcatenatedSource(files.map { try source(of: $0) })
        }
    }

    /// The bytes of a file.
    func source(of file: PackedFile) throws -> any ByteSource {
        switch storage {
        case .folder(let path): return try FileSource(URL(fileURLWithPath: "\(path)/\(file.path)"))
        case .zip(let archive):
            guard let entry = archive[file.path] else {
                throw PackError(.damaged, "\"\(file.path)\" is in the manifest and not in the zip: build the pack anew")
            }
            return DataSource(try archive.read(entry))
        }
    }

    /// Compares every file with the manifest, and what there is with what is listed.
    ///
    /// - Throws: ``PackError`` naming the first file that is not as the manifest says.
    public func verify() throws(PackError) {
        do {
            if case .zip(let archive) = storage {
                let listed = Set(manifest.files.map(\.path) + [PackManifest.fileName])
                if let extra = archive.entries.first(where: { !$0.isDirectory && !listed.contains($0.path) }) {
                    throw PackError(
                        .damaged,
                        "\"\(extra.path)\" is in the zip and not in the manifest: build the pack anew"
                    )
                }
            }
            try inParallel(manifest.files) { file in
                let source = try source(of: file)
                guard source.length == file.size, try PackDigest(of: source).hex == file.sha256 else {
                    throw PackError(.damaged, "\"\(file.path)\" is not what the manifest says: build the pack anew")
                }
            }
        } catch let error as PackError {
            throw error
        } catch {
            throw PackError(.damaged, "the pack \(manifest.module) \(manifest.version) cannot be read", cause: error)
        }
    }
}
