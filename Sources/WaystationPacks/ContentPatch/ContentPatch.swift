public import Foundation
import WaystationArchive
import WaystationHTTP
package import WaystationStorage

/// A patch between the contents of two packs, independent of how their zips are compressed.
///
/// Compression hides what two versions of a zip have in common, so the patch works on the files themselves. It holds
/// two BSDIFF40 patches, one between the manifests and one between the files that differ:
///
/// ```
/// offset  bytes
///      0      8  "WAYDELTA"
///      8     32  SHA-256 of the base's manifest
///     40     32  SHA-256 of the result's manifest
///     72      8  length of the manifest patch, unsigned, little endian
///     80         manifest patch: BSDIFF40, from the base's manifest to the result's, byte for byte
///                content patch: BSDIFF40 to the end, from the old stream to the new stream
/// ```
///
/// The **old stream** is the files of the base whose digest no file of the result has, one after another in the order of
/// the manifest; the **new stream** is the files of the result whose digest no file of the base has, each digest once.
/// All other files of the result are already in the base, and are linked to its files.
package struct ContentPatch: Sendable {
    package static let magic = Data("WAYDELTA".utf8)
    static let headerLength = 80

    /// The SHA-256 of the base's manifest, 64 hexadecimal digits.
    package let base: String
    /// The SHA-256 of the result's manifest.
    package let result: String
    private let manifestPatch: any ByteSource
    private let contentPatch: any ByteSource

    /// Reads the header of a content patch.
    ///
    /// - Throws: ``PackError`` when the source is not a content patch, or the lengths in its header exceed its own.
    package init(_ source: any ByteSource) throws(PackError) {
        do {
            let header = try source.read(at: 0, count: Self.headerLength)
            guard header.count == Self.headerLength, header.prefix(8) == Self.magic else {
                throw PackError(.damaged, "the file is not a content patch: fetch the whole pack")
            }
            base = header[8..<40].hexadecimal
            result = header[40..<72].hexadecimal
            let length = header[72..<80].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let rest = source.length - Self.headerLength
            guard let length = Int(exactly: length), length <= rest else {
                throw PackError(
                    .damaged,
                    "the content patch has \(rest) bytes, but its manifest needs \(length): fetch the whole pack"
                )
            }
            manifestPatch = SlicedSource(source, Self.headerLength..<Self.headerLength + length)
            contentPatch = SlicedSource(source, Self.headerLength + length..<Self.headerLength + rest)
        } catch let error as PackError {
            throw error
        } catch {
            throw PackError(.fileSystem, "the content patch cannot be read", cause: error)
        }
    }

    /// Makes the manifest of the result.
    ///
    /// - Parameter base: The bytes of the base's manifest.
    /// - Returns: The manifest, and its bytes.
    /// - Throws: ``PackError`` when the patch is for another base, or its result is not the manifest that it names.
    func manifest(from base: Data) throws(PackError) -> (manifest: PackManifest, json: Data) {
        guard PackDigest(of: base).hex == self.base else {
            throw PackError(
                .damaged,
                "the content patch is for the manifest \(self.base.prefix(12))…, but the installed one is "
                    + "\(PackDigest(of: base).hex.prefix(12))…: fetch the whole pack"
            )
        }
        var json = Data()
        do {
            let patch = try BSDiffPatch(manifestPatch, limits: PatchLimits(newSize: PackManifest.maximumSize))
            try patch.apply(to: DataSource(base)) { json.append(contentsOf: $0) }
        } catch is CancellationError {
            throw PackError(.cancelled, "applying the content patch was cancelled", cause: CancellationError())
        } catch {
            throw PackError(
                .damaged,
                "the manifest of the content patch cannot be made: fetch the whole pack",
                cause: error
            )
        }
        guard PackDigest(of: json).hex == result else {
            throw PackError(
                .damaged,
                "the content patch does not lead to the manifest that it names: fetch the whole pack"
            )
        }
        return (try PackManifest(json: json), json)
    }

    /// Makes the new stream from the old one, and passes it to `write` in parts.
    func apply(to old: any ByteSource, newSize: Int, write: (UnsafeRawBufferPointer) throws -> Void) throws {
        let patch = try BSDiffPatch(contentPatch, limits: PatchLimits(newSize: newSize))
        guard patch.newSize == newSize else {
            throw PackError(
                .damaged,
                "the content patch makes \(patch.newSize) bytes, the manifest needs \(newSize): fetch the whole pack"
            )
        }
        try patch.apply(to: old, write: write)
    }
}

extension PackBuilder {
    /// Makes a content patch, which turns an installed base into another pack.
    ///
    /// The same packs always give the same bytes. The files that differ are held in memory; the old ones take about
    /// five times their size.
    ///
    /// - Parameters:
    ///   - base: The pack that is installed.
    ///   - result: The new pack, to which the patch leads.
    /// - Returns: The patch, in the format of `Docs/FileFormats.md`.
    /// - Throws: ``PackError`` when a pack cannot be read, or when the files that differ are 2 GiB or more.
    public static func contentPatch(from base: PackContents, to result: PackContents) throws(PackError) -> Data {
        let difference = ContentDifference(from: base.manifest, to: result.manifest)
        do {
            let manifest = try BSDiffPatch.create(from: DataSource(base.json), to: DataSource(result.json))
            let content = try BSDiffPatch.create(
                from: stream(of: difference.old, in: base),
                to: stream(of: difference.new, in: result)
            )
            var patch = ContentPatch.magic
            patch.append(Data(hexadecimal: base.manifestDigest.hex))
            patch.append(Data(hexadecimal: result.manifestDigest.hex))
            withUnsafeBytes(of: UInt64(manifest.count).littleEndian) { patch.append(contentsOf: $0) }
            patch.append(manifest)
            patch.append(content)
            return patch
        } catch let error as PackError {
            throw error
        } catch {
            throw PackError(
                .fileSystem,
                "cannot make a content patch from \(base.manifest.module) \(base.manifest.version) to "
                    + "\(result.manifest.module) \(result.manifest.version)",
                cause: error
            )
        }
    }

    private static func stream(of files: [PackedFile], in pack: PackContents) throws -> ConcatenatedSource {
        guard let stream = try pack.stream(of: files) else {
            throw PackError(.tooLarge, "the files of \(pack.manifest.module) are too large for a patch")
        }
        return stream
    }
}

/// Compares two versions of a pack: the files that the old version already has, and those that a patch must bring.
struct ContentDifference: Sendable {
    /// Files whose content the base has, each with the file of the base that has it.
    private(set) var kept: [(file: PackedFile, base: PackedFile)] = []
    /// The new stream: files whose content the base does not have, each content once.
    private(set) var new: [PackedFile] = []
    /// Files that have the same content as an earlier file of the new stream.
    private(set) var repeated: [(file: PackedFile, first: PackedFile)] = []
    /// The old stream: files of the base whose content the result does not have.
    let old: [PackedFile]

    init(from base: PackManifest, to result: PackManifest) {
        let byDigest = Dictionary(base.files.map { ($0.sha256, $0) }) { first, _ in first }
        let wanted = Set(result.files.map(\.sha256))
        old = base.files.filter { !wanted.contains($0.sha256) }
        var made: [String: PackedFile] = [:]
        for file in result.files {
            if let there = byDigest[file.sha256], there.size == file.size {
                kept.append((file, there))
            } else if let first = made[file.sha256], first.size == file.size {
                repeated.append((file, first))
            } else {
                made[file.sha256] = file
                new.append(file)
            }
        }
    }

    /// The length of the new stream in bytes; nil when it overflows `Int`.
    var newSize: Int? {
        new.reduce(0 as Int?) { sum, file in
            guard let sum else { return nil }
            let (total, overflow) = sum.addingReportingOverflow(file.size)
            return overflow ? nil : total
        }
    }
}
