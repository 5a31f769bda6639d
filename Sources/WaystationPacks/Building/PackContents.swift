public import Foundation
public import WaystationArchive
import WaystationHTTP
import WaystationStorage

/// A pack that is open for reading: a zip or a folder with a manifest.
public struct PackContents: Sendable {
    /// The manifest: the pack's properties and its list of files.
    public let manifest: PackManifest
    /// The bytes of the manifest file.
    let json: Data

    private enum Storage: Sendable {
        case zip(ZipArchive)
        case folder(String)
    }

    private let storage: Storage

    /// Opens a pack.
    ///
    /// - Parameters:
    ///   - url: A zip or a folder, with its manifest at its root.
    ///   - limits: The limits beyond which a zip is refused.
    /// - Throws: ``PackError`` when there is no valid pack at the URL.
    public init(_ url: URL, limits: ZipLimits = ZipLimits()) throws(PackError) {
        try self.init(url, named: url.path(percentEncoded: false).trimmingTrailingSlash, limits: limits)
    }

    /// Opens a pack that errors call by another name, such as the file that it is a copy of.
    package init(_ url: URL, named name: String, limits: ZipLimits) throws(PackError) {
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
                let archive = try ZipArchive(FileSource(URL(fileURLWithPath: path)), limits: limits)
                storage = .zip(archive)
                json = try archive[PackManifest.fileName].map { entry in
                    guard entry.size <= PackManifest.maximumSize else {
                        throw PackError(
                            .invalidManifest,
                            "the manifest in \(name) has \(entry.size) bytes; the limit is \(PackManifest.maximumSize)"
                        )
                    }
                    return try archive.read(entry)
                }
            }
            guard let json else {
                throw PackError(
                    .invalidManifest,
                    "\(name) is not a pack: it has no \(PackManifest.fileName); build one with `waystation pack build`"
                )
            }
            self.json = json
            manifest = try PackManifest(json: json)
        } catch let error as PackError {
            throw error
        } catch {
            throw PackError(.damaged, "\(name) cannot be read as a pack", cause: error)
        }
    }

    /// The SHA-256 of the manifest's bytes; content patches identify their base and their result by it.
    public var manifestDigest: PackDigest { PackDigest(of: json) }

    /// The bytes of the files, concatenated in this order.
    func stream(of files: [PackedFile]) throws -> ConcatenatedSource? {
        switch storage {
        case .folder(let path): FileRow.source(files.map { ("\(path)/\($0.path)", $0.size) }, LocalFileSystem())
        case .zip: try ConcatenatedSource(files.map { try source(of: $0) })
        }
    }

    /// The bytes of one file.
    func source(of file: PackedFile) throws -> any ByteSource {
        switch storage {
        case .folder(let path): return try FileSource(URL(fileURLWithPath: "\(path)/\(file.path)"))
        case .zip(let archive):
            guard let entry = archive[file.path] else {
                throw PackError(
                    .damaged,
                    "\(file.path.quoted()) is in the manifest but not in the zip: rebuild the pack"
                )
            }
            return DataSource(try archive.read(entry))
        }
    }

    /// Compares every file with the manifest; for a zip, also checks that it holds no file that the manifest does not
    /// list.
    ///
    /// - Throws: ``PackError`` that names the first file that does not match the manifest.
    public func verify() throws(PackError) {
        do {
            if case .zip(let archive) = storage {
                let listed = Set(manifest.files.map(\.path) + [PackManifest.fileName])
                if let extra = archive.entries.first(where: { !$0.isDirectory && !listed.contains($0.path) }) {
                    throw PackError(
                        .damaged,
                        "\(extra.path.quoted()) is in the zip but not in the manifest: rebuild the pack"
                    )
                }
            }
            try inParallel(manifest.files) { file in
                let source = try source(of: file)
                guard source.length == file.size, try PackDigest(of: source).hex == file.sha256 else {
                    throw PackError(.damaged, "\(file.path.quoted()) does not match the manifest: rebuild the pack")
                }
            }
        } catch let error as PackError {
            throw error
        } catch {
            throw PackError(.damaged, "the pack \(manifest.module) \(manifest.version) cannot be read", cause: error)
        }
    }
}
