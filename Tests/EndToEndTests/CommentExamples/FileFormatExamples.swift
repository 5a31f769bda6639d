import Foundation
import WaystationArchive
import WaystationPacks

/// The examples in the comments of `WaystationArchive` and `WaystationPacks/Patch`, compiled and not run.
enum FileFormatExamples {
    static func archive(_ url: URL, into folder: URL) async throws {
        // snippet: comment-zip-archive
        let archive = try ZipArchive(FileSource(url))
        for entry in archive.entries where !entry.isDirectory { print(entry.path, entry.size) }
        if let page = archive["index.html"] { print(try archive.read(page)) }
        try await archive.extract(into: folder) { print($0.bytesDone, "of", $0.bytesTotal) }
        // end snippet
    }

    static func writer(_ page: Data, to file: FileHandle) throws {
        // snippet: comment-zip-writer
        let writer = ZipWriter { try file.write(contentsOf: Data($0)) }
        try writer.add("index.html", from: page)
        try writer.finish()
        // end snippet
    }

    static func patch(_ patchFile: URL, _ oldFile: URL, _ digest: [UInt8], to output: FileHandle) throws {
        // snippet: comment-bsdiff-patch
        let patch = try BSDiffPatch(FileSource(patchFile))
        try patch.apply(to: FileSource(oldFile), expecting: .init(new: .sha256(digest))) { bytes in
            try output.write(contentsOf: Data(bytes))
        }
        // end snippet
    }
}
