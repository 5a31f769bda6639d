import Foundation
import Testing
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import WaystationArchive

@Suite("Archives that other readers accept")
struct OtherReadersTests {
    @Test("Archives that Debian's tools write are read as they read them", arguments: OddArchive.written)
    func readWritten(_ archive: OddArchive) throws { try check(archive) }

    @Test(
        "Odd names are read as other readers agree, or refused with a reason",
        arguments: OddArchive.names + OddArchive.backslashes + OddArchive.unicodePaths
    )
    func readNames(_ archive: OddArchive) throws { try check(archive) }

    @Test(
        "Odd directories and other kinds are read as other readers agree, or refused with a reason",
        arguments: OddArchive.directories + OddArchive.kinds
    )
    func readKinds(_ archive: OddArchive) throws { try check(archive) }

    @Test(
        "Odd headers are read as other readers agree, or refused with a reason",
        arguments: OddArchive.zip64 + OddArchive.extraFields + OddArchive.flags
    )
    func readHeaders(_ archive: OddArchive) throws { try check(archive) }

    @Test(
        "Descriptors and local headers are read as other readers agree, or refused with a reason",
        arguments: OddArchive.descriptors + OddArchive.localHeaders
    )
    func readDescriptors(_ archive: OddArchive) throws { try check(archive) }

    @Test(
        "Bytes in odd places are read over as other readers agree, or refused with a reason",
        arguments: OddArchive.places + OddArchive.ends
    )
    func readPlaces(_ archive: OddArchive) throws { try check(archive) }

    @Test("No two archives have one name")
    func distinct() {
        #expect(Set(OddArchive.all.map(\.testDescription)).count == OddArchive.all.count)
        #expect(OddArchive.all.count > 200)
    }

    @Test("More entries than the end record has room for are listed as other readers list them")
    func wrappedCount() throws {
        let scratch = try Scratch()
        let names = (0..<65_540).map { "\($0)" }
        try scratch.write(RawZip(names.map { OddArchive.file($0, "") }).data, to: "a.zip")
        func lines(_ tool: Tool, _ arguments: String...) throws -> [String] {
            try tool.run(arguments, in: scratch.url.path).split(separator: "\n").map(String.init)
        }
        #expect(try lines(.unzip, "-Z1", "a.zip") == names)
        #expect(try lines(.bsdtar, "-tf", "a.zip") == names)
        #expect(
            try lines(.python, "-c", "import zipfile; print('\\n'.join(zipfile.ZipFile('a.zip').namelist()))") == names
        )
        let archive = try ZipArchive(FileSource(scratch.url.appending(path: "a.zip")))
        #expect(archive.entries.map(\.path) == names)
    }

    private func check(_ odd: OddArchive) throws {
        let scratch = try Scratch()
        switch odd.making {
        case .bytes(let zip): try scratch.write(zip.data, to: "a.zip")
        case .command(let command):
            for name in OddArchive.everyFile where !name.hasSuffix("/") {
                try scratch.write(Data((name == "none.txt" ? "" : "contents of \(name)").utf8), to: "in/\(name)")
            }
            try FileManager.default.createDirectory(
                atPath: scratch.path("in/empty"),
                withIntermediateDirectories: false
            )
            try Tool.shell.run(["-c", command], in: scratch.url.path)
        }
        let others = try peers.reduce(into: [Tool: Result<[String: Data], ToolFailure>]()) {
            $0[$1] = try extract("a.zip", by: $1, in: scratch)
        }
        let ours = Result { try ZipArchive(FileSource(scratch.url.appending(path: "a.zip"))).contents() }
        try report(odd, others, ours)
        let agreed = agreement(of: others)
        switch odd.verdict {
        case .read:
            let agreed = try #require(agreed, "the other readers do not agree: \(others)")
            #expect(try ours.get() == agreed)
        case .refused(let code, let reason):
            #expect(agreed != nil, "the other readers do not agree: \(others)")
            #expect(throws: ZipError.self, "\(reason)") { try ours.get() }
            #expect(ours.refusal?.code == code, "\(reason)")
        case .disputed(let code):
            #expect(agreed == nil, "the other readers agree")
            #expect(ours.refusal?.code == code)
        case .decided(let paths, let reason):
            #expect(agreed == nil, "the other readers agree")
            #expect(try ours.get().keys.sorted() == paths, "\(reason)")
        }
    }

    /// The readers that must agree, and 7z where it is installed, which only appears in the report.
    private let peers: [Tool] = [.unzip, .bsdtar, .python] + (Tool.sevenZip.isInstalled ? [.sevenZip] : [])

    private func report(
        _ odd: OddArchive,
        _ others: [Tool: Result<[String: Data], ToolFailure>],
        _ ours: Result<[String: Data], any Error>
    ) throws {
        var readings: [String: ZipReadings.Reading] = [:]
        for (tool, result) in others {
            switch result {
            case .success(let tree): readings[tool.rawValue] = .init(tree)
            case .failure(let failure): readings[tool.rawValue] = .init(refusal: failure.lastLine)
            }
        }
        switch ours {
        case .success(let tree): readings["waystation"] = .init(tree)
        case .failure(let error): readings["waystation"] = .init(refusal: "\(error)")
        }
        try ZipReadings(of: odd, readings).write()
    }

    /// The files that `unzip`, `bsdtar` and Python extract; nil when they do not agree, or one of them fails.
    private func agreement(of others: [Tool: Result<[String: Data], ToolFailure>]) -> [String: Data]? {
        guard let first = try? others[.unzip]?.get() else { return nil }
        for tool in [Tool.bsdtar, .python] where (try? others[tool]?.get()) != first { return nil }
        return first
    }

    private func extract(
        _ file: String,
        by tool: Tool,
        in scratch: Scratch
    ) throws -> Result<[String: Data], ToolFailure> {
        let folder = tool.rawValue
        try FileManager.default.createDirectory(atPath: scratch.path(folder), withIntermediateDirectories: false)
        let script = "import zipfile; zipfile.ZipFile('\(file)').extractall('\(folder)')"
        let arguments =
            switch tool {
            case .bsdtar: ["-xf", file, "-C", folder]
            case .python: ["-c", script]
            case .sevenZip: ["x", "-y", "-o\(folder)", file]
            default: ["-oq", file, "-d", folder]
            }
        // The status 1 of unzip and 7z stands for warnings.
        let statuses: Set<Int32> = tool == .unzip || tool == .sevenZip ? [0, 1] : [0]
        if let failure = try tool.failure(of: arguments, in: scratch.url.path, with: statuses) {
            return .failure(failure)
        }
        // The names of a tree that cannot be read are not UTF-8.
        guard let tree = try? scratch.tree(folder) else {
            return .failure(ToolFailure(lastLine: "it extracts files whose names are not UTF-8"))
        }
        return .success(tree)
    }
}

extension Result where Failure == any Error {
    fileprivate var refusal: ZipError? { if case .failure(let error) = self { error as? ZipError } else { nil } }
}
