import Foundation
import Testing
import WaystationPacks

@testable import WaystationPublishing

@Suite("Inspecting files")
struct PackInspectionTests {
    private let publisher: Publisher

    init() throws { publisher = try Publisher() }

    @Test("a zip, a folder and both kinds of patches are distinguished")
    func kinds() throws {
        let old = try publisher.pack("1.0")
        let new = try publisher.pack("1.1")
        guard case .zip(let manifest, let digest, let file) = try PackInspection(old) else {
            Issue.record("no zip")
            return
        }
        #expect(manifest.version.description == "1.0")
        #expect(digest == (try PackContents(old).manifestDigest))
        #expect(file.sha256 == PackDigest(of: try Data(contentsOf: old)))

        let content = publisher.folder.appending(path: "content.patch")
        try PackDelta.make(.content, from: old, to: new).write(to: content)
        guard case .contentPatch(let base, let result, _) = try PackInspection(content) else {
            Issue.record("no content patch")
            return
        }
        #expect(base == digest)
        #expect(result == (try PackContents(new).manifestDigest))

        let zip = publisher.folder.appending(path: "zip.patch")
        try PackDelta.make(.zip, from: old, to: new).write(to: zip)
        guard case .zipPatch(let size, let properties) = try PackInspection(zip) else {
            Issue.record("no zip patch")
            return
        }
        #expect(size == (try Data(contentsOf: new).count))
        #expect(properties.size == (try Data(contentsOf: zip).count))

        let folder = publisher.folder.appending(path: "folder")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try manifest.json().write(to: folder.appending(path: PackManifest.fileName))
        guard case .folder(let found, digest) = try PackInspection(folder) else {
            Issue.record("no folder")
            return
        }
        #expect(found == manifest)
    }

    @Test("a file that is none of these is refused", arguments: ["", "text", "BSDIFF40", "WAYDELTA", "PK\u{3}\u{4}"])
    func nothing(text: String) throws {
        let file = publisher.folder.appending(path: "file")
        try Data(text.utf8).write(to: file)
        #expect { try PackInspection(file) } throws: { ($0 as? PackError)?.code == .damaged }
        let missing = publisher.folder.appending(path: "missing")
        #expect { try PackInspection(missing) } throws: { ($0 as? PackError)?.code == .fileSystem }
    }

    @Test("a content patch between two modules is refused")
    func modules() throws {
        let (old, new) = (try publisher.pack("1.0", of: "cart"), try publisher.pack("1.1", of: "shop"))
        #expect { try PackDelta.make(.content, from: old, to: new) } throws: {
            ($0 as? PackError)?.code == .invalidArgument
        }
    }
}
