import Foundation
import WaystationPacks
import WaystationStorage

/// Installs a content patch in a real library, which must refuse the patch or have exactly the files of the new
/// manifest.
///
/// The first byte of an input says whether a complete content patch follows or its parts. The parts are the length of
/// the new manifest in two bytes, that manifest, and the streams of the content patch. From the parts, a patch with the
/// right digests is made, so that the code behind the checks of the digests is reached.
struct ContentPatchTarget: FuzzTarget {
    let maximumLength = 4 << 10
    private let scratch: Scratch
    private let library: PackLibrary
    private let module: ModuleID
    private let base: InstalledPack
    private let baseManifest: Data

    private static let oldFiles = [
        "index.html": "<title>1</title>", "a/app.js": "old script, old script", "same": "same",
    ]
    private static let newFiles = [
        "index.html": "<title>2</title>", "b/app.js": "new script, old script", "same": "same",
    ]

    init() throws {
        scratch = try Scratch()
        guard let module = ModuleID("shop") else { throw Finding("'shop' is not a valid module") }
        self.module = module
        let library = try PackLibrary(directory: scratch.target)
        self.library = library
        let pack = try Self.pack("1", Self.oldFiles, of: module)
        base = try blocking { try await library.install(zip: pack.zip) }
        baseManifest = pack.json
    }

    func seeds() throws -> [Data] {
        let json = try Self.pack("2", Self.newFiles, of: module).json
        let (old, new) = ("old script, old script<title>1</title>", "new script, old script<title>2</title>")
        let patch = [UInt8](try BSDiffPatch.create(from: DataSource(Data(old.utf8)), to: DataSource(Data(new.utf8))))
        guard let streams = PatchStreams(patch: patch) else { throw Finding("a seed cannot be split") }
        var parts: [UInt8] = []
        parts.append(json.count, 2)
        parts += Array(json) + streams.input
        guard let whole = try contentPatch(ofParts: parts) else { throw Finding("a seed cannot be assembled") }
        return [Data([1] + parts), Data([0] + whole)]
    }

    func mutated(_ input: [UInt8], using random: inout SeededGenerator) -> [UInt8]? {
        guard input.first.map({ $0 & 1 }) == 1, let length = input.number(at: 1, 2).map(Int.init),
            input.count >= 3 + length, var streams = PatchStreams(input: Array(input[(3 + length)...]))
        else { return nil }
        guard Bool.random(using: &random) else {
            streams.damage(using: &random)
            return Array(input[..<(3 + length)]) + streams.input
        }
        var json = Array(input[3..<(3 + length)])
        damage(&json, using: &random)
        var bytes: [UInt8] = [1]
        bytes.append(json.count, 2)
        return bytes + json + input[(3 + length)...]
    }

    func run(_ input: Data) throws {
        guard let mode = input.first else { return }
        let rest = Array(input.dropFirst())
        guard let patch = try mode & 1 == 1 ? contentPatch(ofParts: rest) : rest else { return }
        let file = FileManager.default.temporaryDirectory.appending(path: "fuzz-\(getpid()).patch")
        try Data(patch).write(to: file)
        do {
            let installed = try blocking { [library, module] in
                try await library.install(contentPatch: file, for: module, activating: false)
            }
            try check(installed)
            // The library is restored, so that each input starts with the same one.
            try blocking { [library, module] in try await library.activate(module, version: installed.version) }
            let damages = try blocking { [library] in try await library.verify() }
            try Finding.unless(damages.isEmpty, "the installed pack is damaged: \(damages)")
            let pack = try Self.pack("1", Self.oldFiles, of: module)
            try blocking { [library, module] in
                try await library.remove(module)
                try await library.install(zip: pack.zip)
            }
        } catch let error as PackError {
            try Finding.unless(error.code != .fileSystem, "the patch was not refused, but caused a failure: \(error)")
        }
        _ = try scratch.files()
        try Finding.unless(library.module(module)?.active?.version == base.version, "the base is no longer active")
    }

    private func check(_ installed: InstalledPack) throws {
        let json = try Data(contentsOf: installed.root.deletingLastPathComponent().appending(path: "manifest.json"))
        let manifest = try PackManifest(json: json)
        for file in manifest.files {
            let data = try Data(contentsOf: installed.root.appending(path: file.path))
            try Finding.unless(
                data.count == file.size && PatchDigest.sha256(data).description == "sha256:\(file.sha256)",
                "'\(file.path)' does not match the manifest"
            )
        }
    }

    /// Makes a content patch whose digests are right.
    private func contentPatch(ofParts parts: [UInt8]) throws -> [UInt8]? {
        guard let length = parts.number(at: 0, 2).map(Int.init) else { return nil }
        let json = Array(parts.dropFirst(2).prefix(length))
        guard let streams = PatchStreams(input: Array(parts.dropFirst(2 + json.count))) else { return nil }
        let manifestPatch = try BSDiffPatch.create(from: DataSource(baseManifest), to: DataSource(Data(json)))
        var bytes = Array("WAYDELTA".utf8) + Self.digest(baseManifest) + Self.digest(Data(json))
        bytes.append(manifestPatch.count, 8)
        return bytes + manifestPatch + streams.patch
    }

    private static func digest(_ data: Data) -> [UInt8] {
        let text = Array(PatchDigest.sha256(data).description.dropFirst("sha256:".count))
        return stride(from: 0, to: text.count - 1, by: 2).compactMap { UInt8(String(text[$0...($0 + 1)]), radix: 16) }
    }

    /// Changes digits, letters or single bytes; most other damage would give invalid JSON.
    private func damage(_ json: inout [UInt8], using random: inout SeededGenerator) {
        guard let place = json.indices.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            let digits = json.indices.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(json[$0]) }
            guard let digit = digits.randomElement(using: &random) else { return }
            json.insert(UInt8.random(in: UInt8(ascii: "0")...UInt8(ascii: "9"), using: &random), at: digit)
        case 1:
            let letters = json.indices.filter { json[$0] >= UInt8(ascii: "a") }
            guard let letter = letters.randomElement(using: &random) else { return }
            json[letter] = Array("/.aA0".utf8).randomElement(using: &random) ?? 0
        case 2: json.remove(at: place)
        default: json[place] = UInt8.random(in: 0x20..<0x7F, using: &random)
        }
    }

    private static func pack(
        _ version: String,
        _ files: [String: String],
        of module: ModuleID
    ) throws -> (zip: URL, json: Data) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fuzz-\(getpid())-\(version)")
        let zip = folder.appendingPathExtension("zip")
        try? FileManager.default.removeItem(at: zip)
        for (path, text) in files {
            let file = folder.appending(path: path)
            let above = file.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: above, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        guard let version = PackVersion(version) else { throw Finding("\(version) is not a valid version") }
        let description = PackDescription(module: module, version: version, baseURLs: ["https://shop.example/app/"])
        return (zip, try PackBuilder.build(folder: folder, as: description, to: zip).json())
    }
}
