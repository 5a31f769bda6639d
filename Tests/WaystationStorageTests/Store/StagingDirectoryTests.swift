import Foundation
import Testing
import WaystationStorage
import WaystationTestSupport

@Suite("Left-over staging directories")
struct StagingDirectoryTests {
    @Test("are removed even if the owner of one of them removes it at the same time")
    func removedMeanwhile() throws {
        let fixture = try StoreFixture()
        let parent = fixture.directory.path
        let names = ["0", "1", "2"].map { String(repeating: $0, count: 32) }
        for name in names {
            try LocalFileSystem().createDirectory("\(parent)/\(name)")
            _ = try LocalFileSystem().createFile("\(parent)/\(name)/half")
        }
        let gone = "\(parent)/\(names[1])"
        let disk = FaultyFileSystem { operation, path in
            // This happens between listing the directory and locking it.
            if operation == .lock, path == gone + "/lock" { try FileManager.default.removeItem(atPath: gone) }
        }
        #expect(try StagingDirectory.removeLeftOvers(in: parent, disk) == 2)
        #expect(try LocalFileSystem().contents(of: parent).isEmpty)
    }
}
