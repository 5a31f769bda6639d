import Foundation
import Testing
import WaystationStorage

@testable import WaystationPacks

/// Patches of real files are exchanged both ways between this code and Debian's `bsdiff` and `bspatch`.
@Suite("Interchange with bsdiff and bspatch")
struct PatchInterchangeTests {
    /// Two files that every Debian has, the old and the new one; "" is an empty file.
    struct Pair: Sendable, CustomTestStringConvertible {
        let old: String
        let new: String

        var testDescription: String {
            [old, new].map { $0.isEmpty ? "nothing" : ($0 as NSString).lastPathComponent }.joined(separator: " to ")
        }

        init(_ old: String, _ new: String) {
            self.old = old
            self.new = new
        }

        func bytes() throws -> (old: Data, new: Data) {
            func read(_ path: String) throws -> Data {
                path.isEmpty ? Data() : try Data(contentsOf: URL(filePath: path))
            }
            return try (read(old), read(new))
        }

        static func license(_ old: String, _ new: String) -> Pair {
            Pair("/usr/share/common-licenses/\(old)", "/usr/share/common-licenses/\(new)")
        }

        static func program(_ old: String, _ new: String) -> Pair { Pair("/usr/bin/\(old)", "/usr/bin/\(new)") }
    }

    static let pairs: [Pair] = [
        .license("GPL-1", "GPL-2"), .license("GPL-2", "GPL-3"), .license("GPL-3", "GPL-2"),
        .license("LGPL-2", "LGPL-2.1"), .license("LGPL-2.1", "LGPL-3"), .license("GFDL-1.2", "GFDL-1.3"),
        .license("Apache-2.0", "MPL-2.0"), .license("Artistic", "BSD"), .license("MPL-1.1", "MPL-2.0"),
        .license("GPL-3", "GPL-3"), Pair("", "/usr/share/common-licenses/GPL-2"),
        Pair("/usr/share/common-licenses/GPL-2", ""),
        .program("md5sum", "sha1sum"), .program("sha224sum", "sha256sum"), .program("true", "false"),
        .program("head", "tail"), .program("basename", "dirname"), .program("cat", "tac"), .program("sort", "sort"),
        Pair("/usr/bin/true", "/usr/share/common-licenses/GPL-3"),
        Pair("/usr/share/common-licenses/GPL-3", "/usr/bin/true"),
        Pair("", ""), Pair("", "/usr/bin/true"), Pair("/usr/bin/true", ""),
        Pair("/usr/include/zlib.h", "/usr/include/bzlib.h"), Pair("/usr/include/bzlib.h", "/usr/include/zlib.h"),
    ]

    @Test("a patch that bsdiff makes applies here, and one made here is hardly larger", arguments: pairs)
    func theirsAppliesHere(pair: Pair) throws {
        let (old, new) = try pair.bytes()
        // bsdiff maps both files, and an empty one cannot be mapped.
        guard !old.isEmpty, !new.isEmpty else { return }
        try expectTheirsApplies(old, new)
    }

    @Test("a patch that is made here of two real files applies with bspatch", arguments: pairs)
    func oursAppliesThere(pair: Pair) throws {
        let (old, new) = try pair.bytes()
        try expectOursApplies(old, new)
    }

    @Test("patches of zip files of two folders apply both ways")
    func zips() throws {
        let folder = try TemporaryFolder()
        for (name, licenses) in [("old", ["GPL-2", "BSD", "Artistic"]), ("new", ["GPL-2", "BSD", "Apache-2.0"])] {
            let tree = folder[name]
            try FileManager.default.createDirectory(at: tree, withIntermediateDirectories: true)
            for license in licenses {
                let file = URL(filePath: "/usr/share/common-licenses/\(license)")
                try Data(contentsOf: file).write(to: tree.appending(path: license))
            }
            try DebianTool.zip.run("-q", "-r", "-X", "../\(name).zip", ".", in: tree)
        }
        let (old, new) = try (Data(contentsOf: folder["old.zip"]), Data(contentsOf: folder["new.zip"]))
        try expectTheirsApplies(old, new)
        try expectOursApplies(old, new)
    }

    private func expectTheirsApplies(_ old: Data, _ new: Data) throws {
        let folder = try TemporaryFolder()
        try old.write(to: folder["old"])
        try new.write(to: folder["new"])
        try DebianTool.bsdiff.run(folder.path("old"), folder.path("new"), folder.path("patch"))
        let theirs = try Data(contentsOf: folder["patch"])
        #expect(try applied(theirs, to: old) == new)
        // The choice among equal matches differs, which makes a few bytes of difference.
        let ours = try patch(from: old, to: new)
        #expect(ours.count <= theirs.count * 102 / 100 + 32, "\(ours.count) bytes, theirs \(theirs.count)")
    }

    private func expectOursApplies(_ old: Data, _ new: Data) throws {
        let folder = try TemporaryFolder()
        try old.write(to: folder["old"])
        let ours = try patch(from: old, to: new)
        try ours.write(to: folder["patch"])
        try DebianTool.bspatch.run(folder.path("old"), folder.path("new"), folder.path("patch"))
        #expect(try Data(contentsOf: folder["new"]) == new)
        #expect(try applied(ours, to: old) == new)
    }
}
