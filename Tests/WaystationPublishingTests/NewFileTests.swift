import Foundation
import Synchronization
import Testing
import WaystationPacks
import WaystationStorage
import WaystationTestSupport

@testable import WaystationPublishing

@Suite("A new file of a key or a patch")
struct NewFileTests {
    private let publisher: Publisher

    init() throws { publisher = try Publisher() }

    @Test("is synchronized with its name, so that a power cut does not lose it")
    func durable() throws {
        let operations = Mutex<[(FaultyFileSystem.Operation, String)]>([])
        let fileSystem = FaultyFileSystem { operation, path in operations.withLock { $0.append((operation, path)) } }
        let file = publisher.folder.appending(path: "release.key")
        try NewFile.write(Data("key".utf8), to: file, using: fileSystem)
        let last = operations.withLock { Array($0.suffix(2)) }
        #expect(last.map(\.0) == [.synchronize, .synchronizeDirectory])
        #expect(last.map(\.1) == [file.path, publisher.folder.path])
    }

    @Test(
        "is not left behind when the disk fails",
        arguments: [FaultyFileSystem.Operation.write, .synchronize, .synchronizeDirectory]
    )
    func failure(failing: FaultyFileSystem.Operation) throws {
        let fileSystem = FaultyFileSystem { operation, path in
            if operation == failing { throw FileError("test", path, code: EIO) }
        }
        let file = publisher.folder.appending(path: "release.key")
        let error = #expect(throws: PackError.self) {
            try NewFile.write(Data("key".utf8), to: file, using: fileSystem)
        }
        #expect(error?.code == .fileSystem)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }
}
