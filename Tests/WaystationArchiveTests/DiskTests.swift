import Foundation
import Synchronization
import Testing
import WaystationStorage
import WaystationTestSupport

@testable import WaystationArchive

@Suite("Extracting to and writing from the disk")
struct DiskTests {
    typealias Operation = FaultyFileSystem.Operation

    /// Records the operations of a file system in order; the operation with the given number fails.
    private final class Journal: Sendable {
        let entries = Mutex<[(operation: Operation, path: String)]>([])

        func fileSystem(failing operation: Operation? = nil, call number: Int = 0) -> FaultyFileSystem {
            FaultyFileSystem { [self] used, path in
                let earlier = entries.withLock { entries in
                    defer { entries.append((used, path)) }
                    return entries.count { $0.operation == used }
                }
                if used == operation, earlier == number { throw FileError("test", path, code: EIO) }
            }
        }

        var all: [(operation: Operation, path: String)] { entries.withLock { $0 } }
    }

    private let scratch: Scratch
    private let archive: ZipArchive

    init() throws {
        scratch = try Scratch()
        let bytes = try ZipWriter.bytes { writer in
            for number in 0..<6 { try writer.add("d\(number % 3)/\(number)", from: .words(100_000)) }
        }
        archive = try ZipArchive(DataSource(bytes))
    }

    @Test(
        "Extraction throws the error of any file system call that fails",
        arguments: [Operation.status, .createDirectory, .createFile, .write, .synchronize, .synchronizeDirectory]
    )
    func extraction(operation: Operation) async throws {
        let sound = Journal()
        try await archive.extract(into: scratch.path("sound"), using: sound.fileSystem(), synchronizes: true)
        let calls = sound.all.count { $0.operation == operation }
        #expect(calls > 0)
        for call in 0..<calls {
            let fileSystem = Journal().fileSystem(failing: operation, call: call)
            let error = await #expect(throws: FileError.self, "call \(call)") {
                try await archive.extract(into: scratch.path("\(call)"), using: fileSystem, synchronizes: true)
            }
            #expect(error?.code == EIO)
        }
    }

    @Test("Extraction synchronizes every file, then every directory")
    func synchronization() async throws {
        let journal = Journal()
        let target = scratch.path("out")
        try await archive.extract(into: target, using: journal.fileSystem(), synchronizes: true)
        let files = journal.all.filter { $0.operation == .synchronize }.map(\.path)
        let directories = journal.all.filter { $0.operation == .synchronizeDirectory }.map(\.path)
        #expect(Set(files) == Set(archive.entries.map { target + "/" + $0.path }))
        #expect(Set(directories) == [target, target + "/d0", target + "/d1", target + "/d2"])
        #expect(directories.last == target)
        let lastFile = try #require(journal.all.lastIndex { $0.operation == .synchronize })
        let firstDirectory = try #require(journal.all.firstIndex { $0.operation == .synchronizeDirectory })
        #expect(lastFile < firstDirectory)
    }

    @Test("Extraction synchronizes nothing unless the caller requests it")
    func noSynchronization() async throws {
        let journal = Journal()
        try await archive.extract(into: scratch.path("out"), using: journal.fileSystem())
        #expect(journal.all.allSatisfy { $0.operation != .synchronize && $0.operation != .synchronizeDirectory })
    }

    @Test("Extracting an archive that is refused leaves the disk untouched")
    func refused() async throws {
        let journal = Journal()
        await #expect(throws: ZipError.self) {
            let zip = RawZip([RawEntry("good"), RawEntry("../bad")])
            try await ZipArchive(DataSource(zip.data)).extract(into: scratch.path("out"), using: journal.fileSystem())
        }
        #expect(journal.all.isEmpty)
    }

    @Test(
        "Writing a folder throws the error of any file system call that fails",
        arguments: [Operation.status, .contents, .createFile, .openFile, .write, .synchronize]
    )
    func writing(operation: Operation) throws {
        for number in 0..<3 { try scratch.write(.words(1_000), to: "in/d/\(number)") }
        func write(to name: String, using fileSystem: FaultyFileSystem) throws {
            try ZipWriter.write(
                folder: scratch.path("in"),
                to: scratch.path(name),
                synchronizes: true,
                using: fileSystem
            )
        }
        let sound = Journal()
        try write(to: "sound.zip", using: sound.fileSystem())
        let calls = sound.all.count { $0.operation == operation }
        #expect(calls > 0)
        for call in 0..<calls {
            let error = #expect(throws: FileError.self, "call \(call)") {
                try write(to: "\(call).zip", using: Journal().fileSystem(failing: operation, call: call))
            }
            #expect(error?.code == EIO)
        }
    }

    @Test("An archive is not written to a URL that is not a file URL, and not extracted to one")
    func remote() async throws {
        let path = scratch.path("new")
        let remote = try #require(URL(string: "https://zips.example\(path)"))
        let problem = "\(remote): it is not a file URL"
        try scratch.write(.words(10), to: "in/words")
        let written = #expect(throws: FileError.self) {
            try ZipWriter.write(folder: scratch.url.appending(path: "in"), to: remote)
        }
        #expect(written?.description.contains(problem) == true)
        let extracted = await #expect(throws: FileError.self) { try await archive.extract(into: remote) }
        #expect(extracted?.description.contains(problem) == true)
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
